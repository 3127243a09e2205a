-- CreateTable
CREATE TABLE "device_logins" (
    "business_id" UUID NOT NULL,
    "device_id" UUID NOT NULL,
    "pairing_digest" BYTEA,
    "pairing_expires_at" TIMESTAMPTZ(3),
    "token_digest" BYTEA,

    CONSTRAINT "device_logins_pkey" PRIMARY KEY ("business_id","device_id")
);

-- CreateTable
CREATE TABLE "devices" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "device_name" VARCHAR(200) NOT NULL,
    "location_id" UUID,
    "min_points" INTEGER NOT NULL,
    "max_points" INTEGER NOT NULL,
    "paired_at" TIMESTAMPTZ(3),
    "last_active_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "devices_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateIndex
CREATE UNIQUE INDEX "device_logins_pairing_digest_key" ON "device_logins"("pairing_digest");

-- CreateIndex
CREATE UNIQUE INDEX "device_logins_token_digest_key" ON "device_logins"("token_digest");

-- CreateIndex
CREATE INDEX "devices_business_id_created_at_id_idx" ON "devices"("business_id", "created_at" DESC, "id" DESC);

-- AddForeignKey
ALTER TABLE "device_logins" ADD CONSTRAINT "device_logins_business_id_device_id_fkey" FOREIGN KEY ("business_id", "device_id") REFERENCES "devices"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "devices" ADD CONSTRAINT "devices_business_id_fkey" FOREIGN KEY ("business_id") REFERENCES "businesses"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "transactions" ADD CONSTRAINT "transactions_business_id_device_id_fkey" FOREIGN KEY ("business_id", "device_id") REFERENCES "devices"("business_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- What Prisma's schema language cannot say. Held by test/database/catalog.test.ts.

ALTER TABLE devices
  ADD CONSTRAINT devices_name_check CHECK (device_name <> ''),
  ADD CONSTRAINT devices_points_check CHECK (min_points >= 0 AND max_points BETWEEN greatest(min_points, 1) AND 1000000);

ALTER TABLE device_logins
  ADD CONSTRAINT device_logins_pairing_check CHECK ((pairing_digest IS NULL) = (pairing_expires_at IS NULL));

ALTER TABLE transactions
  ADD CONSTRAINT transactions_terminal_check CHECK (source <> 'terminal' OR device_id IS NOT NULL);

-- The name of a revoked device is free again.
CREATE UNIQUE INDEX devices_name ON devices (business_id, device_name) WHERE revoked_at IS NULL;
CREATE INDEX transactions_of_device ON transactions (business_id, device_id, created_at DESC, id DESC)
  WHERE device_id IS NOT NULL;

-- CreateEnum
CREATE TYPE "mail_status" AS ENUM ('waiting', 'sent', 'dead');

-- AlterTable
ALTER TABLE "idempotency_keys" ADD COLUMN     "lease_until" TIMESTAMPTZ(3),
ADD COLUMN     "resource_id" UUID,
ALTER COLUMN "status" DROP NOT NULL;

-- AlterTable
ALTER TABLE "redemptions" ADD COLUMN     "asset_expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "asset_type" "digital_asset_type",
ADD COLUMN     "asset_value" BYTEA,
ADD COLUMN     "carrier" VARCHAR(100),
ADD COLUMN     "delivered_at" TIMESTAMPTZ(3),
ADD COLUMN     "provision_lease_until" TIMESTAMPTZ(3),
ADD COLUMN     "provision_sent_at" TIMESTAMPTZ(3),
ADD COLUMN     "shipped_at" TIMESTAMPTZ(3),
ADD COLUMN     "shipping_address" BYTEA,
ADD COLUMN     "tracking_number" VARCHAR(100);

-- CreateTable
CREATE TABLE "pool_values" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "reward_id" UUID NOT NULL,
    "value" VARCHAR(500) NOT NULL,
    "redemption_id" UUID,
    "consumed_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "pool_values_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateTable
CREATE TABLE "webhook_breakers" (
    "business_id" UUID NOT NULL,
    "reward_id" UUID NOT NULL,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "open_until" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_breakers_pkey" PRIMARY KEY ("business_id","reward_id")
);

-- CreateTable
CREATE TABLE "webhook_deliveries" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "reward_id" UUID NOT NULL,
    "redemption_id" UUID,
    "test" BOOLEAN NOT NULL,
    "ok" BOOLEAN NOT NULL,
    "status" SMALLINT,
    "reason" VARCHAR(100),
    "duration_ms" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "webhook_deliveries_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateTable
CREATE TABLE "mails" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "redemption_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "status" "mail_status" NOT NULL DEFAULT 'waiting',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_attempt_at" TIMESTAMPTZ(3) NOT NULL,
    "last_error" VARCHAR(500),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "sent_at" TIMESTAMPTZ(3),

    CONSTRAINT "mails_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateIndex
CREATE INDEX "pool_values_business_id_reward_id_created_at_id_idx" ON "pool_values"("business_id", "reward_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "pool_values_business_id_reward_id_value_key" ON "pool_values"("business_id", "reward_id", "value");

-- CreateIndex
CREATE UNIQUE INDEX "pool_values_business_id_redemption_id_key" ON "pool_values"("business_id", "redemption_id");

-- CreateIndex
CREATE INDEX "webhook_deliveries_business_id_created_at_id_idx" ON "webhook_deliveries"("business_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "webhook_deliveries_business_id_reward_id_created_at_id_idx" ON "webhook_deliveries"("business_id", "reward_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "mails_business_id_created_at_id_idx" ON "mails"("business_id", "created_at" DESC, "id" DESC);

-- AddForeignKey
ALTER TABLE "pool_values" ADD CONSTRAINT "pool_values_business_id_reward_id_fkey" FOREIGN KEY ("business_id", "reward_id") REFERENCES "rewards"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "pool_values" ADD CONSTRAINT "pool_values_business_id_redemption_id_fkey" FOREIGN KEY ("business_id", "redemption_id") REFERENCES "redemptions"("business_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "webhook_breakers" ADD CONSTRAINT "webhook_breakers_business_id_reward_id_fkey" FOREIGN KEY ("business_id", "reward_id") REFERENCES "rewards"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_business_id_reward_id_fkey" FOREIGN KEY ("business_id", "reward_id") REFERENCES "rewards"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "mails" ADD CONSTRAINT "mails_business_id_redemption_id_fkey" FOREIGN KEY ("business_id", "redemption_id") REFERENCES "redemptions"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "mails" ADD CONSTRAINT "mails_business_id_customer_id_fkey" FOREIGN KEY ("business_id", "customer_id") REFERENCES "customers"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What Prisma's schema language cannot say. Held by test/database/catalog.test.ts.

ALTER TABLE redemptions
  ADD CONSTRAINT redemptions_shipping_check CHECK (
    delivery_mode = 'shipping' OR (shipping_address IS NULL AND carrier IS NULL AND tracking_number IS NULL AND shipped_at IS NULL AND delivered_at IS NULL)),
  ADD CONSTRAINT redemptions_asset_check CHECK (
    (asset_type IS NULL OR delivery_mode = 'digital') AND (asset_value IS NULL OR asset_type IS NOT NULL)),
  ADD CONSTRAINT redemptions_provision_check CHECK (provision_lease_until IS NULL OR delivery_mode = 'digital' AND status = 'pending');

ALTER TABLE pool_values
  ADD CONSTRAINT pool_values_value_check CHECK (value <> ''),
  ADD CONSTRAINT pool_values_consumed_check CHECK ((redemption_id IS NULL) = (consumed_at IS NULL));

ALTER TABLE webhook_breakers
  ADD CONSTRAINT webhook_breakers_failures_check CHECK (failures >= 0);

ALTER TABLE mails
  ADD CONSTRAINT mails_sent_check CHECK ((status = 'sent') = (sent_at IS NOT NULL)),
  ADD CONSTRAINT mails_attempts_check CHECK (attempts BETWEEN 0 AND 10);

CREATE INDEX pool_values_available ON pool_values (business_id, reward_id, id) WHERE redemption_id IS NULL;
CREATE INDEX redemptions_provisioning ON redemptions (provision_lease_until) WHERE provision_lease_until IS NOT NULL;
CREATE INDEX mails_due ON mails (next_attempt_at) WHERE status = 'waiting';

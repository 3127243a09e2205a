-- CreateEnum
CREATE TYPE "max_entries_mode" AS ENUM ('total', 'unique_entrants');

-- CreateTable
CREATE TABLE "raffles" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" VARCHAR(200) NOT NULL,
    "description" VARCHAR(5000),
    "terms_conditions" VARCHAR(5000),
    "starts_at" TIMESTAMPTZ(3) NOT NULL,
    "ends_at" TIMESTAMPTZ(3) NOT NULL,
    "points_cost" INTEGER NOT NULL,
    "entries_per_user" INTEGER NOT NULL,
    "winners_count" INTEGER NOT NULL,
    "max_entries" INTEGER,
    "max_entries_mode" "max_entries_mode" NOT NULL DEFAULT 'total',
    "image_key" VARCHAR(120),
    "total_entries" BIGINT NOT NULL DEFAULT 0,
    "unique_entrants" INTEGER NOT NULL DEFAULT 0,
    "seed_hash" CHAR(64) NOT NULL,
    "sealed_seed" BYTEA,
    "seed" CHAR(64),
    "entries_hash" CHAR(64),
    "drawn_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),
    "cancelled_at" TIMESTAMPTZ(3),
    "refunded_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "raffles_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateTable
CREATE TABLE "raffle_entrants" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "raffle_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "entries" INTEGER NOT NULL,
    "withdrawn_at" TIMESTAMPTZ(3),
    "refunded_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "raffle_entrants_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateTable
CREATE TABLE "raffle_entries" (
    "business_id" UUID NOT NULL,
    "transaction_id" UUID NOT NULL,
    "entrant_id" UUID NOT NULL,
    "entries" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "raffle_entries_pkey" PRIMARY KEY ("business_id","transaction_id")
);

-- CreateTable
CREATE TABLE "raffle_winners" (
    "business_id" UUID NOT NULL,
    "raffle_id" UUID NOT NULL,
    "rank" INTEGER NOT NULL,
    "entrant_id" UUID NOT NULL,

    CONSTRAINT "raffle_winners_pkey" PRIMARY KEY ("business_id","raffle_id","rank")
);

-- CreateIndex
CREATE INDEX "raffles_business_id_created_at_id_idx" ON "raffles"("business_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "raffle_entrants_business_id_raffle_id_created_at_id_idx" ON "raffle_entrants"("business_id", "raffle_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "raffle_entrants_business_id_customer_id_idx" ON "raffle_entrants"("business_id", "customer_id");

-- CreateIndex
CREATE UNIQUE INDEX "raffle_entrants_business_id_raffle_id_customer_id_key" ON "raffle_entrants"("business_id", "raffle_id", "customer_id");

-- CreateIndex
CREATE INDEX "raffle_entries_business_id_entrant_id_idx" ON "raffle_entries"("business_id", "entrant_id");

-- CreateIndex
CREATE UNIQUE INDEX "raffle_winners_business_id_entrant_id_key" ON "raffle_winners"("business_id", "entrant_id");

-- AddForeignKey
ALTER TABLE "raffles" ADD CONSTRAINT "raffles_business_id_fkey" FOREIGN KEY ("business_id") REFERENCES "businesses"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "raffle_entrants" ADD CONSTRAINT "raffle_entrants_business_id_raffle_id_fkey" FOREIGN KEY ("business_id", "raffle_id") REFERENCES "raffles"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "raffle_entrants" ADD CONSTRAINT "raffle_entrants_business_id_customer_id_fkey" FOREIGN KEY ("business_id", "customer_id") REFERENCES "customers"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "raffle_entries" ADD CONSTRAINT "raffle_entries_business_id_transaction_id_fkey" FOREIGN KEY ("business_id", "transaction_id") REFERENCES "transactions"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "raffle_entries" ADD CONSTRAINT "raffle_entries_business_id_entrant_id_fkey" FOREIGN KEY ("business_id", "entrant_id") REFERENCES "raffle_entrants"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "raffle_winners" ADD CONSTRAINT "raffle_winners_business_id_raffle_id_fkey" FOREIGN KEY ("business_id", "raffle_id") REFERENCES "raffles"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "raffle_winners" ADD CONSTRAINT "raffle_winners_business_id_entrant_id_fkey" FOREIGN KEY ("business_id", "entrant_id") REFERENCES "raffle_entrants"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What Prisma's schema language cannot say. Held by test/database/catalog.test.ts.

ALTER TABLE raffles
  ADD CONSTRAINT raffles_bounds_check CHECK (
    points_cost BETWEEN 0 AND 1000000000 AND entries_per_user BETWEEN 1 AND 10000 AND winners_count BETWEEN 1 AND 1000
    AND (max_entries IS NULL OR max_entries BETWEEN 1 AND 10000000)),
  ADD CONSTRAINT raffles_dates_check CHECK (starts_at < ends_at),
  ADD CONSTRAINT raffles_counts_check CHECK (unique_entrants >= 0 AND total_entries >= unique_entrants),
  ADD CONSTRAINT raffles_ceiling_check CHECK (
    (max_entries_mode <> 'total' OR total_entries <= max_entries) AND (max_entries_mode <> 'unique_entrants' OR unique_entrants <= max_entries)),
  ADD CONSTRAINT raffles_seed_check CHECK (
    (drawn_at IS NULL) = (seed IS NULL) AND (drawn_at IS NULL) = (entries_hash IS NULL) AND (drawn_at IS NULL) = (sealed_seed IS NOT NULL)),
  ADD CONSTRAINT raffles_states_check CHECK (
    (completed_at IS NULL OR drawn_at IS NOT NULL AND cancelled_at IS NULL) AND (refunded_at IS NULL OR cancelled_at IS NOT NULL)),
  ADD CONSTRAINT raffles_deleted_check CHECK (deleted_at IS NULL OR total_entries = 0);

ALTER TABLE raffle_entrants
  ADD CONSTRAINT raffle_entrants_entries_check CHECK (entries BETWEEN 1 AND 10000),
  ADD CONSTRAINT raffle_entrants_withdrawn_check CHECK (withdrawn_at IS NULL OR refunded_at IS NOT NULL);

ALTER TABLE raffle_entries
  ADD CONSTRAINT raffle_entries_entries_check CHECK (entries BETWEEN 1 AND 10000);

ALTER TABLE raffle_winners
  ADD CONSTRAINT raffle_winners_rank_check CHECK (rank BETWEEN 1 AND 1000);

CREATE INDEX raffles_due ON raffles (ends_at) WHERE drawn_at IS NULL AND cancelled_at IS NULL AND deleted_at IS NULL;
CREATE INDEX raffles_refunding ON raffles (cancelled_at) WHERE cancelled_at IS NOT NULL AND refunded_at IS NULL;
CREATE INDEX raffles_listed ON raffles (business_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX raffle_entrants_unrefunded ON raffle_entrants (business_id, raffle_id, customer_id) WHERE refunded_at IS NULL;

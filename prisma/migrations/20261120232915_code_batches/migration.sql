-- CreateEnum
CREATE TYPE "code_batch_origin" AS ENUM ('api', 'dashboard');

-- AlterTable
ALTER TABLE "customers" ADD COLUMN     "claim_failures" TIMESTAMPTZ(3)[];

-- CreateTable
CREATE TABLE "code_batches" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "batch_ref" CHAR(8) NOT NULL,
    "name" VARCHAR(200) NOT NULL,
    "prefix" VARCHAR(10) NOT NULL,
    "points" INTEGER NOT NULL,
    "quantity" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "active" BOOLEAN NOT NULL DEFAULT true,
    "created_via" "code_batch_origin" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "claimed" INTEGER NOT NULL DEFAULT 0,
    "failed_attempts" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "code_batches_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateTable
CREATE TABLE "batch_codes" (
    "business_id" UUID NOT NULL,
    "batch_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "suffix" CHAR(12) NOT NULL,
    "customer_id" UUID,
    "transaction_id" UUID,
    "claimed_at" TIMESTAMPTZ(3),

    CONSTRAINT "batch_codes_pkey" PRIMARY KEY ("business_id","batch_id","id")
);

-- CreateIndex
CREATE INDEX "code_batches_business_id_created_at_id_idx" ON "code_batches"("business_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "code_batches_business_id_batch_ref_key" ON "code_batches"("business_id", "batch_ref");

-- CreateIndex
CREATE UNIQUE INDEX "batch_codes_business_id_suffix_key" ON "batch_codes"("business_id", "suffix");

-- CreateIndex
CREATE UNIQUE INDEX "batch_codes_business_id_transaction_id_key" ON "batch_codes"("business_id", "transaction_id");

-- AddForeignKey
ALTER TABLE "code_batches" ADD CONSTRAINT "code_batches_business_id_fkey" FOREIGN KEY ("business_id") REFERENCES "businesses"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "batch_codes" ADD CONSTRAINT "batch_codes_business_id_batch_id_fkey" FOREIGN KEY ("business_id", "batch_id") REFERENCES "code_batches"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "batch_codes" ADD CONSTRAINT "batch_codes_business_id_customer_id_fkey" FOREIGN KEY ("business_id", "customer_id") REFERENCES "customers"("business_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "batch_codes" ADD CONSTRAINT "batch_codes_business_id_transaction_id_fkey" FOREIGN KEY ("business_id", "transaction_id") REFERENCES "transactions"("business_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- What Prisma's schema language cannot say. Held by test/database/catalog.test.ts.

ALTER TABLE code_batches
  ADD CONSTRAINT code_batches_name_check CHECK (name <> ''),
  ADD CONSTRAINT code_batches_prefix_check CHECK (prefix ~ '^[A-Z0-9]{1,10}$'),
  ADD CONSTRAINT code_batches_points_check CHECK (points BETWEEN 1 AND 1000000),
  ADD CONSTRAINT code_batches_quantity_check CHECK (quantity BETWEEN 1 AND 100000),
  ADD CONSTRAINT code_batches_claimed_check CHECK (claimed BETWEEN 0 AND quantity),
  ADD CONSTRAINT code_batches_failed_attempts_check CHECK (failed_attempts >= 0);

ALTER TABLE batch_codes
  ADD CONSTRAINT batch_codes_suffix_check CHECK (suffix ~ '^[0-9A-HJKMNP-TV-Z]{12}$'),
  ADD CONSTRAINT batch_codes_claimed_check CHECK (num_nulls(customer_id, transaction_id, claimed_at) IN (0, 3));

-- Prefixes that a person may take for one another are one prefix.
CREATE UNIQUE INDEX code_batches_prefix_key ON code_batches (business_id, translate(prefix, 'OIL', '011'));

ALTER TABLE customers
  ADD CONSTRAINT customers_claim_failures_check CHECK (cardinality(claim_failures) <= 10);

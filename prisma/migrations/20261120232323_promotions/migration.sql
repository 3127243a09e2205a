-- AlterTable
ALTER TABLE "transactions" ADD COLUMN     "multiplier" DECIMAL(8,4),
ADD COLUMN     "promotion_id" UUID;

-- CreateTable
CREATE TABLE "promotions" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" VARCHAR(200) NOT NULL,
    "description" VARCHAR(5000),
    "start_date" DATE,
    "end_date" DATE,
    "active" BOOLEAN NOT NULL DEFAULT true,
    "points_multiplier" DECIMAL(4,2),
    "image_key" VARCHAR(120),
    "interested_count" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "promotions_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateTable
CREATE TABLE "promotion_interests" (
    "business_id" UUID NOT NULL,
    "promotion_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "promotion_interests_pkey" PRIMARY KEY ("business_id","promotion_id","customer_id")
);

-- CreateIndex
CREATE INDEX "promotions_business_id_created_at_id_idx" ON "promotions"("business_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "promotion_interests_business_id_customer_id_idx" ON "promotion_interests"("business_id", "customer_id");

-- AddForeignKey
ALTER TABLE "promotions" ADD CONSTRAINT "promotions_business_id_fkey" FOREIGN KEY ("business_id") REFERENCES "businesses"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promotion_interests" ADD CONSTRAINT "promotion_interests_business_id_promotion_id_fkey" FOREIGN KEY ("business_id", "promotion_id") REFERENCES "promotions"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "promotion_interests" ADD CONSTRAINT "promotion_interests_business_id_customer_id_fkey" FOREIGN KEY ("business_id", "customer_id") REFERENCES "customers"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "transactions" ADD CONSTRAINT "transactions_business_id_promotion_id_fkey" FOREIGN KEY ("business_id", "promotion_id") REFERENCES "promotions"("business_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- What Prisma's schema language cannot say. Held by test/database/catalog.test.ts.

ALTER TABLE promotions
  ADD CONSTRAINT promotions_dates_check CHECK (start_date <= end_date),
  ADD CONSTRAINT promotions_points_multiplier_check CHECK (points_multiplier BETWEEN 1.1 AND 10),
  ADD CONSTRAINT promotions_interested_count_check CHECK (interested_count >= 0);

ALTER TABLE transactions
  ADD CONSTRAINT transactions_multiplier_check CHECK (
    multiplier > 0 AND amount_minor IS NOT NULL OR multiplier IS NULL AND promotion_id IS NULL);

-- What an earning asks for, with its business's few multipliers and nothing else in it.
CREATE INDEX promotions_multiplying ON promotions (business_id)
  WHERE active AND points_multiplier IS NOT NULL AND deleted_at IS NULL;

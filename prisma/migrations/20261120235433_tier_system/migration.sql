-- CreateEnum
CREATE TYPE "tier_metric" AS ENUM ('points_earned', 'points_balance', 'spend');

-- CreateEnum
CREATE TYPE "tier_period" AS ENUM ('lifetime', 'rolling');

-- CreateEnum
CREATE TYPE "downgrade_policy" AS ENUM ('none', 'one_down', 'requalify');

-- CreateEnum
CREATE TYPE "tier_change_reason" AS ENUM ('upgrade', 'downgrade', 'tier_deleted');

-- DropIndex
DROP INDEX "tiers_business_id_rank_key";

-- AlterTable
ALTER TABLE "redemptions" ALTER COLUMN "cashback_cents" SET DATA TYPE BIGINT;

-- AlterTable
ALTER TABLE "tiers" ADD COLUMN     "deleted_at" TIMESTAMPTZ(3),
ADD COLUMN     "referral_bonus_points" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "tier_reach_bonus_points" INTEGER NOT NULL DEFAULT 0;

-- AlterTable
ALTER TABLE "transactions" ADD COLUMN     "tier_id" UUID;

-- CreateTable
CREATE TABLE "tier_settings" (
    "business_id" UUID NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT false,
    "metric" "tier_metric" NOT NULL DEFAULT 'points_earned',
    "period" "tier_period" NOT NULL DEFAULT 'lifetime',
    "period_months" INTEGER,
    "downgrade_policy" "downgrade_policy" NOT NULL DEFAULT 'none',
    "recalculation" UUID,

    CONSTRAINT "tier_settings_pkey" PRIMARY KEY ("business_id")
);

-- CreateTable
CREATE TABLE "tier_changes" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "from_tier_id" UUID,
    "to_tier_id" UUID,
    "reason" "tier_change_reason" NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tier_changes_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateTable
CREATE TABLE "referrals" (
    "business_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "referrer_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "settled_at" TIMESTAMPTZ(3),
    "transaction_id" UUID,

    CONSTRAINT "referrals_pkey" PRIMARY KEY ("business_id","customer_id")
);

-- CreateIndex
CREATE INDEX "tier_changes_business_id_customer_id_created_at_id_idx" ON "tier_changes"("business_id", "customer_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "referrals_business_id_transaction_id_key" ON "referrals"("business_id", "transaction_id");

-- AddForeignKey
ALTER TABLE "tier_settings" ADD CONSTRAINT "tier_settings_business_id_fkey" FOREIGN KEY ("business_id") REFERENCES "businesses"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tier_changes" ADD CONSTRAINT "tier_changes_business_id_customer_id_fkey" FOREIGN KEY ("business_id", "customer_id") REFERENCES "customers"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tier_changes" ADD CONSTRAINT "tier_changes_business_id_from_tier_id_fkey" FOREIGN KEY ("business_id", "from_tier_id") REFERENCES "tiers"("business_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "tier_changes" ADD CONSTRAINT "tier_changes_business_id_to_tier_id_fkey" FOREIGN KEY ("business_id", "to_tier_id") REFERENCES "tiers"("business_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "referrals" ADD CONSTRAINT "referrals_business_id_customer_id_fkey" FOREIGN KEY ("business_id", "customer_id") REFERENCES "customers"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "referrals" ADD CONSTRAINT "referrals_business_id_referrer_id_fkey" FOREIGN KEY ("business_id", "referrer_id") REFERENCES "customers"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "referrals" ADD CONSTRAINT "referrals_business_id_transaction_id_fkey" FOREIGN KEY ("business_id", "transaction_id") REFERENCES "transactions"("business_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- AddForeignKey
ALTER TABLE "transactions" ADD CONSTRAINT "transactions_business_id_tier_id_fkey" FOREIGN KEY ("business_id", "tier_id") REFERENCES "tiers"("business_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- The tiers that customers are in are where their history begins.
INSERT INTO tier_changes (business_id, id, customer_id, to_tier_id, reason, created_at)
SELECT business_id, gen_random_uuid(), id, tier_id, 'upgrade', created_at FROM customers WHERE tier_id IS NOT NULL;

-- What Prisma's schema language cannot say. Held by test/database/catalog.test.ts.

ALTER TABLE tiers
  DROP CONSTRAINT tiers_bounds_check,
  ADD CONSTRAINT tiers_bounds_check CHECK (
    rank BETWEEN 0 AND 1000000 AND min_points BETWEEN 0 AND 2000000000 AND points_multiplier BETWEEN 1 AND 10
    AND cashback_boost_percent BETWEEN 0 AND 1000 AND referral_bonus_points BETWEEN 0 AND 1000000
    AND tier_reach_bonus_points BETWEEN 0 AND 1000000);

ALTER TABLE tier_settings
  ADD CONSTRAINT tier_settings_period_check CHECK (
    (period = 'rolling') = (period_months IS NOT NULL) AND (period_months IS NULL OR period_months BETWEEN 1 AND 120)
    AND (period = 'rolling' OR downgrade_policy = 'none') AND (period = 'lifetime' OR metric <> 'points_balance'));

ALTER TABLE tier_changes
  ADD CONSTRAINT tier_changes_move_check CHECK (from_tier_id IS DISTINCT FROM to_tier_id);

ALTER TABLE referrals
  ADD CONSTRAINT referrals_settled_check CHECK (transaction_id IS NULL OR settled_at IS NOT NULL),
  ADD CONSTRAINT referrals_other_check CHECK (referrer_id <> customer_id);

CREATE UNIQUE INDEX tiers_rank ON tiers (business_id, rank) WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX transactions_one_tier_bonus ON transactions (business_id, customer_id, tier_id) WHERE source = 'tier_bonus';
CREATE INDEX tier_settings_recalculation ON tier_settings (business_id) WHERE recalculation IS NOT NULL;
CREATE INDEX referrals_due ON referrals (created_at) WHERE settled_at IS NULL;

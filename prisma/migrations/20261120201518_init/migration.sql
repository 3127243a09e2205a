-- CreateEnum
CREATE TYPE "business_status" AS ENUM ('active', 'suspended');

-- CreateEnum
CREATE TYPE "reward_type" AS ENUM ('item', 'discount', 'cashback');

-- CreateEnum
CREATE TYPE "cooldown_mode" AS ENUM ('none', 'limit', 'once');

-- CreateEnum
CREATE TYPE "time_unit" AS ENUM ('minute', 'hour', 'day', 'month');

-- CreateEnum
CREATE TYPE "birthday_window_mode" AS ENUM ('exact', 'days', 'month');

-- CreateEnum
CREATE TYPE "tier_gate_mode" AS ENUM ('minimum', 'only');

-- CreateEnum
CREATE TYPE "delivery_mode" AS ENUM ('in_store', 'shipping', 'digital');

-- CreateEnum
CREATE TYPE "digital_asset_type" AS ENUM ('code', 'link');

-- CreateEnum
CREATE TYPE "digital_asset_source" AS ENUM ('static', 'pool', 'external');

-- CreateEnum
CREATE TYPE "redemption_status" AS ENUM ('pending', 'completed', 'cancelled', 'expired');

-- CreateEnum
CREATE TYPE "fulfilment_status" AS ENUM ('unfulfilled', 'shipped', 'delivered', 'cancelled', 'returned');

-- CreateEnum
CREATE TYPE "transaction_type" AS ENUM ('earn', 'redeem');

-- CreateEnum
CREATE TYPE "transaction_status" AS ENUM ('pending', 'completed', 'failed');

-- CreateEnum
CREATE TYPE "transaction_source" AS ENUM ('api', 'terminal', 'dashboard', 'code', 'raffle', 'reward', 'refund', 'reversal', 'expiry', 'erasure', 'tier_bonus', 'referral', 'import');

-- CreateTable
CREATE TABLE "businesses" (
    "id" UUID NOT NULL,
    "name" VARCHAR(200) NOT NULL,
    "email" VARCHAR(320) NOT NULL,
    "status" "business_status" NOT NULL DEFAULT 'active',
    "country" CHAR(2) NOT NULL,
    "timezone" VARCHAR(64) NOT NULL DEFAULT 'UTC',
    "currency" CHAR(3) NOT NULL DEFAULT 'USD',
    "earn_points_per_unit" DECIMAL(18,6) NOT NULL DEFAULT 1,
    "point_spend_value" DECIMAL(18,6),
    "usd_rate" DECIMAL(18,6) NOT NULL DEFAULT 1,
    "redemption_ttl_hours" INTEGER NOT NULL DEFAULT 24,
    "points_expire_after_days" INTEGER,
    "points_expire_since" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "businesses_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_keys" (
    "id" UUID NOT NULL,
    "business_id" UUID NOT NULL,
    "name" VARCHAR(200) NOT NULL,
    "prefix" VARCHAR(12) NOT NULL,
    "digest" BYTEA NOT NULL,
    "scopes" TEXT[],
    "expires_at" TIMESTAMPTZ(3),
    "revoked_at" TIMESTAMPTZ(3),
    "last_used_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "api_keys_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "customers" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "display_name" VARCHAR(200),
    "email" VARCHAR(320),
    "phone" VARCHAR(32),
    "birthday" VARCHAR(10),
    "language" VARCHAR(35),
    "referred_by" UUID,
    "tier_id" UUID,
    "joined_at" TIMESTAMPTZ(3) NOT NULL,
    "erased_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "balance" INTEGER NOT NULL DEFAULT 0,
    "held" INTEGER NOT NULL DEFAULT 0,
    "visit_count" INTEGER NOT NULL DEFAULT 0,
    "redemption_count" INTEGER NOT NULL DEFAULT 0,
    "spend_minor" BIGINT NOT NULL DEFAULT 0,
    "earned_points" BIGINT NOT NULL DEFAULT 0,
    "last_visit_at" TIMESTAMPTZ(3),

    CONSTRAINT "customers_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateTable
CREATE TABLE "customer_identifiers" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "value" VARCHAR(200) NOT NULL,
    "label" VARCHAR(100),
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "customer_identifiers_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateTable
CREATE TABLE "visits" (
    "business_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "date" DATE NOT NULL,

    CONSTRAINT "visits_pkey" PRIMARY KEY ("business_id","customer_id","date")
);

-- CreateTable
CREATE TABLE "tiers" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" VARCHAR(200) NOT NULL,
    "rank" INTEGER NOT NULL,
    "min_points" INTEGER NOT NULL,
    "points_multiplier" DECIMAL(6,2) NOT NULL DEFAULT 1,
    "cashback_boost_percent" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tiers_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateTable
CREATE TABLE "rewards" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" VARCHAR(200) NOT NULL,
    "description" VARCHAR(5000),
    "type" "reward_type" NOT NULL DEFAULT 'item',
    "cashback_cents" INTEGER,
    "points_cost" INTEGER NOT NULL,
    "start_date" DATE,
    "end_date" DATE,
    "time_active" JSONB,
    "conditions" VARCHAR(1000),
    "cooldown_mode" "cooldown_mode" NOT NULL DEFAULT 'none',
    "cooldown_count" INTEGER,
    "cooldown_amount" INTEGER,
    "cooldown_unit" "time_unit",
    "absence_amount" INTEGER,
    "absence_unit" "time_unit",
    "birthday" BOOLEAN NOT NULL DEFAULT false,
    "birthday_window_mode" "birthday_window_mode",
    "birthday_days_before" INTEGER,
    "birthday_days_after" INTEGER,
    "tier_gate_mode" "tier_gate_mode",
    "tier_gate_tier_id" UUID,
    "max_redemptions" INTEGER,
    "delivery_mode" "delivery_mode" NOT NULL DEFAULT 'in_store',
    "digital_asset_type" "digital_asset_type",
    "digital_asset_source" "digital_asset_source" NOT NULL DEFAULT 'static',
    "digital_asset_value" VARCHAR(500),
    "digital_webhook_url" VARCHAR(500),
    "digital_webhook_secret" BYTEA,
    "digital_email_delivery" BOOLEAN NOT NULL DEFAULT false,
    "image_url" TEXT,
    "off_by_hand" BOOLEAN NOT NULL DEFAULT false,
    "deactivated_by_limit" BOOLEAN NOT NULL DEFAULT false,
    "deactivated_by_pool" BOOLEAN NOT NULL DEFAULT false,
    "redemptions_count" INTEGER NOT NULL DEFAULT 0,
    "reserved_count" INTEGER NOT NULL DEFAULT 0,
    "pool_available" INTEGER NOT NULL DEFAULT 0,
    "pool_consumed" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "rewards_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateTable
CREATE TABLE "reward_tier_overrides" (
    "business_id" UUID NOT NULL,
    "reward_id" UUID NOT NULL,
    "tier_id" UUID NOT NULL,
    "cooldown_mode" "cooldown_mode",
    "cooldown_count" INTEGER,
    "cooldown_amount" INTEGER,
    "cooldown_unit" "time_unit",
    "early_access_hours" INTEGER,
    "position" INTEGER NOT NULL,

    CONSTRAINT "reward_tier_overrides_pkey" PRIMARY KEY ("business_id","reward_id","tier_id")
);

-- CreateTable
CREATE TABLE "redemptions" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "code" CHAR(8) NOT NULL,
    "reward_id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "status" "redemption_status" NOT NULL,
    "delivery_mode" "delivery_mode" NOT NULL,
    "fulfilment_status" "fulfilment_status",
    "reward_name" VARCHAR(200) NOT NULL,
    "type" "reward_type" NOT NULL,
    "points_cost" INTEGER NOT NULL,
    "cashback_cents" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "expires_at" TIMESTAMPTZ(3),
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "redemptions_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateTable
CREATE TABLE "transactions" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "customer_id" UUID NOT NULL,
    "type" "transaction_type" NOT NULL,
    "status" "transaction_status" NOT NULL,
    "source" "transaction_source" NOT NULL,
    "points" INTEGER NOT NULL,
    "amount_minor" BIGINT,
    "currency" CHAR(3),
    "device_id" UUID,
    "location_id" UUID,
    "reward_id" UUID,
    "redemption_id" UUID,
    "reverses_id" UUID,
    "description" VARCHAR(5000),
    "occurred_at" TIMESTAMPTZ(3) NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "transactions_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateTable
CREATE TABLE "transaction_counts" (
    "business_id" UUID NOT NULL,
    "type" "transaction_type" NOT NULL,
    "status" "transaction_status" NOT NULL,
    "shard" SMALLINT NOT NULL,
    "count" BIGINT NOT NULL,

    CONSTRAINT "transaction_counts_pkey" PRIMARY KEY ("business_id","type","status","shard")
);

-- CreateTable
CREATE TABLE "idempotency_keys" (
    "business_id" UUID NOT NULL,
    "key" VARCHAR(255) NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "status" SMALLINT NOT NULL,
    "body" BYTEA,
    "customer_ids" UUID[],
    "created_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "idempotency_keys_pkey" PRIMARY KEY ("business_id","key")
);

-- CreateIndex
CREATE UNIQUE INDEX "api_keys_digest_key" ON "api_keys"("digest");

-- CreateIndex
CREATE INDEX "api_keys_business_id_created_at_idx" ON "api_keys"("business_id", "created_at");

-- CreateIndex
CREATE INDEX "customers_business_id_created_at_id_idx" ON "customers"("business_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "customers_business_id_tier_id_idx" ON "customers"("business_id", "tier_id");

-- CreateIndex
CREATE INDEX "customer_identifiers_business_id_customer_id_idx" ON "customer_identifiers"("business_id", "customer_id");

-- CreateIndex
CREATE UNIQUE INDEX "customer_identifiers_business_id_value_key" ON "customer_identifiers"("business_id", "value");

-- CreateIndex
CREATE UNIQUE INDEX "tiers_business_id_rank_key" ON "tiers"("business_id", "rank");

-- CreateIndex
CREATE INDEX "rewards_business_id_created_at_id_idx" ON "rewards"("business_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "redemptions_business_id_created_at_id_idx" ON "redemptions"("business_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "redemptions_business_id_customer_id_reward_id_completed_at_idx" ON "redemptions"("business_id", "customer_id", "reward_id", "completed_at");

-- CreateIndex
CREATE INDEX "redemptions_business_id_reward_id_status_idx" ON "redemptions"("business_id", "reward_id", "status");

-- CreateIndex
CREATE UNIQUE INDEX "redemptions_business_id_code_key" ON "redemptions"("business_id", "code");

-- CreateIndex
CREATE INDEX "transactions_business_id_created_at_id_idx" ON "transactions"("business_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "transactions_business_id_customer_id_created_at_id_idx" ON "transactions"("business_id", "customer_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE INDEX "idempotency_keys_created_at_idx" ON "idempotency_keys"("created_at");

-- AddForeignKey
ALTER TABLE "api_keys" ADD CONSTRAINT "api_keys_business_id_fkey" FOREIGN KEY ("business_id") REFERENCES "businesses"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "customers" ADD CONSTRAINT "customers_business_id_fkey" FOREIGN KEY ("business_id") REFERENCES "businesses"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "customers" ADD CONSTRAINT "customers_business_id_tier_id_fkey" FOREIGN KEY ("business_id", "tier_id") REFERENCES "tiers"("business_id", "id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "customer_identifiers" ADD CONSTRAINT "customer_identifiers_business_id_fkey" FOREIGN KEY ("business_id") REFERENCES "businesses"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "customer_identifiers" ADD CONSTRAINT "customer_identifiers_business_id_customer_id_fkey" FOREIGN KEY ("business_id", "customer_id") REFERENCES "customers"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "visits" ADD CONSTRAINT "visits_business_id_customer_id_fkey" FOREIGN KEY ("business_id", "customer_id") REFERENCES "customers"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "tiers" ADD CONSTRAINT "tiers_business_id_fkey" FOREIGN KEY ("business_id") REFERENCES "businesses"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rewards" ADD CONSTRAINT "rewards_business_id_fkey" FOREIGN KEY ("business_id") REFERENCES "businesses"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "rewards" ADD CONSTRAINT "rewards_business_id_tier_gate_tier_id_fkey" FOREIGN KEY ("business_id", "tier_gate_tier_id") REFERENCES "tiers"("business_id", "id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "reward_tier_overrides" ADD CONSTRAINT "reward_tier_overrides_business_id_fkey" FOREIGN KEY ("business_id") REFERENCES "businesses"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "reward_tier_overrides" ADD CONSTRAINT "reward_tier_overrides_business_id_reward_id_fkey" FOREIGN KEY ("business_id", "reward_id") REFERENCES "rewards"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "reward_tier_overrides" ADD CONSTRAINT "reward_tier_overrides_business_id_tier_id_fkey" FOREIGN KEY ("business_id", "tier_id") REFERENCES "tiers"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "redemptions" ADD CONSTRAINT "redemptions_business_id_fkey" FOREIGN KEY ("business_id") REFERENCES "businesses"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "redemptions" ADD CONSTRAINT "redemptions_business_id_reward_id_fkey" FOREIGN KEY ("business_id", "reward_id") REFERENCES "rewards"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "redemptions" ADD CONSTRAINT "redemptions_business_id_customer_id_fkey" FOREIGN KEY ("business_id", "customer_id") REFERENCES "customers"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "transactions" ADD CONSTRAINT "transactions_business_id_fkey" FOREIGN KEY ("business_id") REFERENCES "businesses"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "transactions" ADD CONSTRAINT "transactions_business_id_customer_id_fkey" FOREIGN KEY ("business_id", "customer_id") REFERENCES "customers"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "transactions" ADD CONSTRAINT "transactions_business_id_redemption_id_fkey" FOREIGN KEY ("business_id", "redemption_id") REFERENCES "redemptions"("business_id", "id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "transactions" ADD CONSTRAINT "transactions_business_id_reverses_id_fkey" FOREIGN KEY ("business_id", "reverses_id") REFERENCES "transactions"("business_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

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
    "image_key" VARCHAR(120),
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
ALTER TABLE "customers" ADD CONSTRAINT "customers_business_id_referred_by_fkey" FOREIGN KEY ("business_id", "referred_by") REFERENCES "customers"("business_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

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

-- What Prisma's schema language cannot say. Held by test/database/catalog.test.ts.

ALTER TABLE businesses
  ADD CONSTRAINT businesses_earn_points_per_unit_check CHECK (earn_points_per_unit > 0),
  ADD CONSTRAINT businesses_point_spend_value_check CHECK (point_spend_value >= 0),
  ADD CONSTRAINT businesses_usd_rate_check CHECK (usd_rate > 0),
  ADD CONSTRAINT businesses_redemption_ttl_hours_check CHECK (redemption_ttl_hours BETWEEN 1 AND 8760),
  ADD CONSTRAINT businesses_points_expire_check CHECK (points_expire_after_days BETWEEN 1 AND 3650 AND points_expire_since IS NOT NULL OR points_expire_after_days IS NULL);

ALTER TABLE customers
  ADD CONSTRAINT customers_balance_check CHECK (balance >= 0),
  ADD CONSTRAINT customers_held_check CHECK (held >= 0 AND held <= balance),
  ADD CONSTRAINT customers_counts_check CHECK (visit_count >= 0 AND redemption_count >= 0),
  ADD CONSTRAINT customers_birthday_check CHECK (birthday ~ '^(\d{4}|-)-\d{2}-\d{2}$');

ALTER TABLE tiers
  ADD CONSTRAINT tiers_bounds_check CHECK (rank >= 0 AND min_points >= 0 AND points_multiplier >= 0 AND cashback_boost_percent >= 0);

ALTER TABLE rewards
  ADD CONSTRAINT rewards_points_cost_check CHECK (points_cost BETWEEN 0 AND 1000000000),
  ADD CONSTRAINT rewards_cashback_check CHECK ((type = 'cashback') = (cashback_cents IS NOT NULL) AND (cashback_cents IS NULL OR cashback_cents >= 0)),
  ADD CONSTRAINT rewards_dates_check CHECK (start_date <= end_date),
  ADD CONSTRAINT rewards_cooldown_check CHECK (
    (cooldown_mode = 'limit') = (cooldown_count IS NOT NULL)
    AND (cooldown_mode = 'limit') = (cooldown_amount IS NOT NULL)
    AND (cooldown_mode = 'limit') = (cooldown_unit IS NOT NULL)),
  ADD CONSTRAINT rewards_absence_check CHECK ((absence_amount IS NULL) = (absence_unit IS NULL)),
  ADD CONSTRAINT rewards_birthday_check CHECK (
    birthday = (birthday_window_mode IS NOT NULL)
    AND (birthday_days_before IS NOT NULL) = (birthday_window_mode IS NOT DISTINCT FROM 'days')
    AND (birthday_days_after IS NOT NULL) = (birthday_window_mode IS NOT DISTINCT FROM 'days')),
  ADD CONSTRAINT rewards_tier_gate_check CHECK ((tier_gate_mode IS NULL) = (tier_gate_tier_id IS NULL)),
  ADD CONSTRAINT rewards_max_redemptions_check CHECK (max_redemptions BETWEEN 1 AND 1000000),
  ADD CONSTRAINT rewards_redemptions_count_check CHECK (
    redemptions_count >= 0 AND reserved_count >= 0
    AND (max_redemptions IS NULL OR redemptions_count + reserved_count <= max_redemptions)),
  ADD CONSTRAINT rewards_digital_check CHECK (
    (delivery_mode = 'digital') = (digital_asset_type IS NOT NULL)
    AND (delivery_mode = 'digital' OR digital_asset_source = 'static')
    AND (digital_asset_value IS NOT NULL) = (delivery_mode = 'digital' AND digital_asset_source = 'static')
    AND (digital_webhook_url IS NOT NULL) = (digital_asset_source = 'external')
    AND (digital_webhook_secret IS NOT NULL) = (digital_asset_source = 'external')
    AND (delivery_mode = 'digital' OR NOT digital_email_delivery)),
  ADD CONSTRAINT rewards_pool_check CHECK (pool_available >= 0 AND pool_consumed >= 0);

ALTER TABLE redemptions
  ADD CONSTRAINT redemptions_code_check CHECK (code ~ '^[0-9A-HJKMNP-TV-Z]{8}$'),
  ADD CONSTRAINT redemptions_points_cost_check CHECK (points_cost >= 0 AND cashback_cents >= 0),
  ADD CONSTRAINT redemptions_completed_check CHECK ((status = 'completed') = (completed_at IS NOT NULL)),
  ADD CONSTRAINT redemptions_fulfilment_check CHECK (fulfilment_status IS NULL OR delivery_mode = 'shipping');

ALTER TABLE transactions
  ADD CONSTRAINT transactions_points_check CHECK (points >= 0),
  ADD CONSTRAINT transactions_amount_check CHECK ((amount_minor IS NULL) = (currency IS NULL) AND (amount_minor IS NULL OR amount_minor >= 0));

ALTER TABLE transaction_counts
  ADD CONSTRAINT transaction_counts_count_check CHECK (count >= 0);

-- One redeem row for a redemption, one reversal for an earning: the database's own word against doing it twice.
CREATE UNIQUE INDEX transactions_one_redeem_per_redemption ON transactions (business_id, redemption_id) WHERE type = 'redeem' AND source = 'reward' AND status <> 'failed';
CREATE UNIQUE INDEX transactions_one_refund_per_redemption ON transactions (business_id, redemption_id) WHERE type = 'earn' AND source = 'refund' AND status <> 'failed';
CREATE UNIQUE INDEX transactions_one_reversal ON transactions (business_id, reverses_id) WHERE reverses_id IS NOT NULL;

-- The sweeps' queues.
CREATE INDEX redemptions_due ON redemptions (expires_at) WHERE status = 'pending';
CREATE INDEX customers_expiry ON customers (business_id, last_visit_at) WHERE balance > 0;
CREATE INDEX rewards_listed ON rewards (business_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;
CREATE INDEX customers_listed ON customers (business_id, created_at DESC, id DESC) WHERE erased_at IS NULL;


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

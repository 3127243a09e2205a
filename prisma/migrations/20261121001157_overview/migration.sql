-- CreateIndex
CREATE INDEX "visits_business_id_date_idx" ON "visits"("business_id", "date");

-- What Prisma's schema language cannot say. Held by test/database/catalog.test.ts.

-- What an overview sums, without the rows themselves.
CREATE INDEX transactions_figures ON transactions (business_id, occurred_at) INCLUDE (type, source, points) WHERE status = 'completed';
CREATE INDEX transactions_rewarded ON transactions (business_id, occurred_at) INCLUDE (reward_id, points) WHERE source = 'reward' AND status = 'completed';
-- New rows are only added, and it is the newest that are summed: PostgreSQL by itself would leave a fifth of the table
-- unmarked as visible to all, and look every such row up.
ALTER TABLE transactions SET (autovacuum_vacuum_insert_scale_factor = 0.01);
ALTER TABLE visits SET (autovacuum_vacuum_insert_scale_factor = 0.01);

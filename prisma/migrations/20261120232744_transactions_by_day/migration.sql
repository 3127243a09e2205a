-- AlterTable
ALTER TABLE "transaction_counts" ADD COLUMN     "points" BIGINT NOT NULL DEFAULT 0;

-- What there is already, in the shards that src/ledger/ledger.ts spreads it over.
UPDATE transaction_counts n SET points = s.points
  FROM (SELECT business_id, type, status, get_byte(uuid_send(customer_id), 15) % 64 AS shard, sum(points) AS points
          FROM transactions GROUP BY 1, 2, 3, 4) s
 WHERE n.business_id = s.business_id AND n.type = s.type AND n.status = s.status AND n.shard = s.shard;
ALTER TABLE "transaction_counts" ALTER COLUMN "points" DROP DEFAULT;

-- CreateTable
CREATE TABLE "transaction_days" (
    "business_id" UUID NOT NULL,
    "day" DATE NOT NULL,
    "earn_count" INTEGER NOT NULL,
    "redeem_count" INTEGER NOT NULL,

    CONSTRAINT "transaction_days_pkey" PRIMARY KEY ("business_id","day")
);

-- AddForeignKey
ALTER TABLE "transaction_days" ADD CONSTRAINT "transaction_days_business_id_fkey" FOREIGN KEY ("business_id") REFERENCES "businesses"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- What Prisma's schema language cannot say. Held by test/database/catalog.test.ts.

ALTER TABLE transaction_counts
  ADD CONSTRAINT transaction_counts_points_check CHECK (points >= 0);

ALTER TABLE transaction_days
  ADD CONSTRAINT transaction_days_counts_check CHECK (earn_count >= 0 AND redeem_count >= 0 AND earn_count + redeem_count > 0);

-- The rarer kinds of the ledger's list; the common ones are read from the index of the whole list.
CREATE INDEX transactions_redeemed ON transactions (business_id, created_at DESC, id DESC) WHERE type = 'redeem';
CREATE INDEX transactions_unsettled ON transactions (business_id, status, created_at DESC, id DESC) INCLUDE (type) WHERE status <> 'completed';

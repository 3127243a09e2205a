-- CreateTable
CREATE TABLE "points_imports" (
    "business_id" UUID NOT NULL,
    "id" UUID NOT NULL,
    "name" VARCHAR(200),
    "content_hash" BYTEA NOT NULL,
    "row_count" INTEGER NOT NULL,
    "applied_count" INTEGER NOT NULL DEFAULT 0,
    "failed_count" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "completed_at" TIMESTAMPTZ(3),

    CONSTRAINT "points_imports_pkey" PRIMARY KEY ("business_id","id")
);

-- CreateTable
CREATE TABLE "points_import_rows" (
    "business_id" UUID NOT NULL,
    "import_id" UUID NOT NULL,
    "line" INTEGER NOT NULL,
    "customer_id" UUID NOT NULL,
    "identifier" VARCHAR(200),
    "points" INTEGER,
    "amount" VARCHAR(16),
    "description" VARCHAR(5000),
    "transaction_id" UUID,
    "error" VARCHAR(200),

    CONSTRAINT "points_import_rows_pkey" PRIMARY KEY ("business_id","import_id","line")
);

-- CreateIndex
CREATE INDEX "points_imports_business_id_created_at_id_idx" ON "points_imports"("business_id", "created_at" DESC, "id" DESC);

-- CreateIndex
CREATE UNIQUE INDEX "points_imports_business_id_content_hash_key" ON "points_imports"("business_id", "content_hash");

-- CreateIndex
CREATE INDEX "points_import_rows_business_id_customer_id_idx" ON "points_import_rows"("business_id", "customer_id");

-- CreateIndex
CREATE UNIQUE INDEX "points_import_rows_business_id_transaction_id_key" ON "points_import_rows"("business_id", "transaction_id");

-- AddForeignKey
ALTER TABLE "points_imports" ADD CONSTRAINT "points_imports_business_id_fkey" FOREIGN KEY ("business_id") REFERENCES "businesses"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "points_import_rows" ADD CONSTRAINT "points_import_rows_business_id_import_id_fkey" FOREIGN KEY ("business_id", "import_id") REFERENCES "points_imports"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "points_import_rows" ADD CONSTRAINT "points_import_rows_business_id_customer_id_fkey" FOREIGN KEY ("business_id", "customer_id") REFERENCES "customers"("business_id", "id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "points_import_rows" ADD CONSTRAINT "points_import_rows_business_id_transaction_id_fkey" FOREIGN KEY ("business_id", "transaction_id") REFERENCES "transactions"("business_id", "id") ON DELETE NO ACTION ON UPDATE NO ACTION;

-- What Prisma's schema language cannot say. Held by test/database/catalog.test.ts.

ALTER TABLE points_imports
  ADD CONSTRAINT points_imports_counts_check CHECK (
    row_count BETWEEN 1 AND 1000 AND applied_count >= 0 AND failed_count >= 0 AND applied_count + failed_count <= row_count),
  ADD CONSTRAINT points_imports_completed_check CHECK (
    (completed_at IS NOT NULL) = (applied_count + failed_count = row_count));

ALTER TABLE points_import_rows
  ADD CONSTRAINT points_import_rows_line_check CHECK (line >= 2),
  ADD CONSTRAINT points_import_rows_given_check CHECK (
    (points IS NULL) <> (amount IS NULL) AND (points IS NULL OR points BETWEEN 1 AND 1000000)),
  ADD CONSTRAINT points_import_rows_outcome_check CHECK (transaction_id IS NULL OR error IS NULL);

CREATE INDEX points_imports_due ON points_imports (created_at) WHERE completed_at IS NULL;

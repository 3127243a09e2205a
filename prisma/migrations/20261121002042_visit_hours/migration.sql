-- AlterTable
ALTER TABLE "businesses" ADD COLUMN     "visit_hours_due_after" UUID;

-- AlterTable
ALTER TABLE "customers" ADD COLUMN     "visit_hours" BIT(168),
ADD COLUMN     "visit_hours_timezone" VARCHAR(64);

-- What Prisma's schema language cannot say. Held by test/database/catalog.test.ts.

ALTER TABLE customers
  ADD CONSTRAINT customers_visit_hours_check CHECK ((visit_hours IS NULL) = (visit_hours_timezone IS NULL));

-- Nobody's are kept yet: the recurring work makes them of the rows.
UPDATE businesses SET visit_hours_due_after = '00000000-0000-0000-0000-000000000000';

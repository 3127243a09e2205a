-- AlterTable
ALTER TABLE "customers" ADD COLUMN     "unpriced_points" BIGINT NOT NULL DEFAULT 0;

-- Of the rows there are.
UPDATE customers c SET unpriced_points = s.points
  FROM (
    SELECT t.business_id, t.customer_id, sum(CASE t.type WHEN 'earn' THEN t.points ELSE -t.points END) AS points
      FROM transactions t LEFT JOIN transactions o ON o.business_id = t.business_id AND o.id = t.reverses_id
     WHERE t.status = 'completed' AND t.amount_minor IS NULL
       AND (t.type = 'earn' AND t.source IN ('api', 'terminal', 'code', 'import')
            OR t.source = 'reversal' AND o.source IN ('api', 'terminal', 'code', 'import'))
     GROUP BY t.business_id, t.customer_id
  ) s
 WHERE c.business_id = s.business_id AND c.id = s.customer_id;

import type pg from 'pg'

interface Definition {
  drop: string
  restore: string
}

/**
 * Takes the foreign keys, keys and indexes of all tables away, so that they can be filled quickly. The function
 * that is returned puts the very same back, which also proves that what was filled in meets them.
 */
export async function loosen(client: pg.Client): Promise<() => Promise<void>> {
  const { rows } = await client.query<Definition>(`
    WITH definitions AS (
      SELECT CASE contype WHEN 'f' THEN 1 ELSE 2 END AS rank, conname AS name,
             format('ALTER TABLE %s DROP CONSTRAINT %I', conrelid::regclass, conname) AS drop,
             format('ALTER TABLE %s ADD CONSTRAINT %I %s', conrelid::regclass, conname, pg_get_constraintdef(oid)) AS restore
        FROM pg_constraint
       WHERE connamespace = 'public'::regnamespace AND contype IN ('f', 'p', 'u')
      UNION ALL
      SELECT 3, i.indexrelid::regclass::text, format('DROP INDEX %s', i.indexrelid::regclass), pg_get_indexdef(i.indexrelid)
        FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid
       WHERE t.relnamespace = 'public'::regnamespace
         AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid AND c.contype IN ('p', 'u'))
    )
    SELECT drop, restore FROM definitions ORDER BY rank, name`)
  for (const { drop } of rows) await client.query(drop)
  return async () => {
    await client.query(`SET maintenance_work_mem = '512MB'`)
    // Foreign keys last: they need the keys that they point to.
    for (const { restore } of rows.toReversed()) await client.query(restore)
  }
}

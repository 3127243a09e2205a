import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PrismaPg } from '@prisma/adapter-pg'
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlDriverAdapter,
} from '@prisma/driver-adapter-utils'
import type { SchemaEngine } from '@prisma/schema-engine-wasm'
import pg from 'pg'

/**
 * Prisma's schema engine in its WebAssembly build, for development only: the native one is a download from
 * Prisma's own host. The package is internal to Prisma; its version is pinned to that of Prisma in package.json and
 * everything that is peculiar to it stands in this file.
 */

/**
 * The SQL that leads from the tables of a database to `schema` (the text of schema.prisma); empty where they agree.
 * Not seen: CHECK constraints and partial indexes, which Prisma does not know.
 */
export const diffToSchema = (databaseUrl: string, schema: string): Promise<string> =>
  withEngine(databaseUrl, async (engine) => {
    const files = [{ path: 'schema.prisma', content: schema }]
    const result = await engine.diff({
      // The database that the adapter is connected to.
      from: { tag: 'schemaDatasource', files, configDir: '.' },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: NO_FILTERS,
    })
    // The convention of the CLI's --exit-code: 0 = the same, 2 = different.
    return result.exitCode === 0 ? '' : (result.stdout ?? '')
  })

/** What `prisma migrate status` is made of: how the database's history stands to the folder of migrations. */
export const migrationStatus = (databaseUrl: string, folder: string) =>
  withEngine(databaseUrl, (engine) => {
    const names = readdirSync(folder).filter((name) => !name.endsWith('.toml'))
    return engine.diagnoseMigrationHistory({
      migrationsList: {
        baseDir: folder,
        lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"' },
        shadowDbInitScript: '',
        migrationDirectories: names.sort().map((name) => ({
          path: name,
          migrationFile: {
            path: 'migration.sql',
            content: { tag: 'ok', value: readFileSync(join(folder, name, 'migration.sql'), 'utf8') },
          },
        })),
      },
      optInToShadowDatabase: false,
      filters: NO_FILTERS,
    })
  })

const NO_FILTERS = { externalTables: [], externalEnums: [] }

async function withEngine<T>(
  connectionString: string,
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  const pool = new CatalogPool({ connectionString, max: 1 })
  loading ??= loadBindings()
  const { SchemaEngine } = await loading
  const adapter = bindMigrationAwareSqlAdapterFactory(new CatalogAdapter(pool))
  const engine = await SchemaEngine.new({ datamodels: undefined }, () => {}, adapter)
  try {
    return await work(engine)
  } finally {
    engine.free()
    await pool.end()
  }
}

/** TypeScript describes it among the types of browsers only. */
declare const WebAssembly: {
  instantiate(module: Buffer, imports: object): Promise<{ instance: { exports: Record<string, unknown> } }>
}

let loading: ReturnType<typeof loadBindings> | undefined

/**
 * The package's own loader imports the .wasm as a module, which Node does only behind a flag. To be called once:
 * the bindings know one instance at a time.
 */
async function loadBindings() {
  const bindings = await import('@prisma/schema-engine-wasm/schema_engine_bg')
  const file = fileURLToPath(import.meta.resolve('@prisma/schema-engine-wasm/schema_engine_bg'))
  // Without it a panic of the engine has no message.
  Object.assign(globalThis, { PRISMA_WASM_PANIC_REGISTRY: { set_message: console.error } })
  const module = readFileSync(file.replace(/\.js$/, '.wasm'))
  const { instance } = await WebAssembly.instantiate(module, { './schema_engine_bg.js': { ...bindings } })
  bindings.__wbg_set_wasm(instance.exports)
  ;(instance.exports.__wbindgen_start as () => void)()
  return bindings
}

/** PostgreSQL's type of catalog columns like `pg_constraint.contype`, which the adapter does not know. */
const CHAR_OID = 18
const TEXT_OID = 25

class CatalogPool extends pg.Pool {
  /** Positions of the columns of that type in the last result. */
  charColumns: number[] = []

  // biome-ignore lint/suspicious/noExplicitAny: pg's overloads, passed through as they come
  override async query(...args: any[]): Promise<any> {
    const result = await (super.query as (...a: unknown[]) => Promise<pg.QueryResult>)(...args)
    this.charColumns = []
    result.fields.forEach((field, position) => {
      if (field.dataTypeID !== CHAR_OID) return
      field.dataTypeID = TEXT_OID
      this.charColumns.push(position)
    })
    return result
  }
}

class CatalogAdapter extends PrismaPg {
  readonly #pool: CatalogPool

  constructor(pool: CatalogPool) {
    super(pool)
    this.#pool = pool
  }

  override async connect() {
    const adapter = await super.connect()
    const queryRaw: SqlDriverAdapter['queryRaw'] = adapter.queryRaw.bind(adapter)
    adapter.queryRaw = async (query) => {
      const result = await queryRaw(query)
      for (const position of this.#pool.charColumns) result.columnTypes[position] = ColumnTypeEnum.Character
      return result
    }
    return adapter
  }
}

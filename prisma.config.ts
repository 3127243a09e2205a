import { defineConfig } from 'prisma/config'

// `generate`, `validate` and `format` never run the native schema engine, but the CLI downloads it before it
// looks at the command. Naming any existing executable keeps it off the network; migrations run without it.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath

export default defineConfig({
  schema: 'prisma/schema.prisma',
  migrations: { path: 'prisma/migrations' },
})

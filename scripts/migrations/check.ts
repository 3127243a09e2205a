import { replayAndDiff } from './replay.js'

/** `npm run migrate:check`: fails where prisma/schema.prisma and prisma/migrations do not say the same. */
const missing = await replayAndDiff()
if (missing) {
  console.error(
    `prisma/schema.prisma and prisma/migrations differ. Make a migration with \`npm run migrate:new -- <name>\`:\n\n${missing}`,
  )
  process.exitCode = 1
} else console.log('prisma/schema.prisma and prisma/migrations say the same.')

import { readFileSync, writeFileSync } from 'node:fs'
import { describeSettings } from './settings-documents.js'

/** `npm run settings:print`: brings `.env.example` and the README's table up to date with src/config.ts. */
for (const { file, text } of describeSettings((file) => readFileSync(file, 'utf8'))) writeFileSync(file, text)

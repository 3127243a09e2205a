import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import test from 'ava'
import { describeSettings } from '../scripts/settings-documents.js'
import { readConfig, settings } from '../src/config.js'
import { OperatorError } from '../src/operator-error.js'

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8')

for (const { file, text } of describeSettings(read))
  test(`${file} lists every setting as src/config.ts has it (npm run settings:print)`, (t) => {
    t.is(read(file), text)
    for (const { name, description } of settings) t.true(description && text.includes(description), name)
  })

test('.env.example as it stands is the default configuration', (t) => {
  const example = parseEnv(read('.env.example'))
  t.deepEqual(Object.keys(example).sort(), settings.map(({ name }) => name).sort())
  t.deepEqual(readConfig(example as Record<string, string>), readConfig({}))
})

test('every wrong setting is named at once', (t) => {
  const error = t.throws(
    () => readConfig({ PORT: '70000', JOBS: '1', SECRET_KEY: 'short', LOG_LEVEL: 'loud' }),
    {
      instanceOf: OperatorError,
    },
  )
  for (const name of ['PORT', 'JOBS', 'SECRET_KEY', 'LOG_LEVEL'])
    t.true(error.message.includes(`${name}: `), name)
})

test('with a database of its own the service asks for a secret', (t) => {
  const settings = { DATABASE_URL: 'postgres://localhost/loyalty' }
  t.throws(() => readConfig(settings), { instanceOf: OperatorError, message: /SECRET_KEY is required/ })
  t.notThrows(() => readConfig({ ...settings, SECRET_KEY: 's'.repeat(32) }))
})

test('an empty setting is the default', (t) => {
  t.deepEqual(readConfig({ PORT: '', DATABASE_URL: '' }), readConfig({}))
})

import { execFile, spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import { startContractApp } from '../contract/table.js'
import { WEBHOOK_HOST } from '../contract/things.js'
import { createTenant } from '../helpers/app.js'
import { createReward } from '../helpers/factories.js'

/** The samples of docs/webhooks.md, run as printed: each judges calls of the service, and calls that are none. */
const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8')

interface Language {
  /** Of the code block. */
  block: string
  command: string
  file: string
  /** Behind the sample: reads cases from standard input, prints what the sample says of each. */
  driver: string
}

const languages: Record<string, Language> = {
  'Node.js': {
    block: 'js',
    command: process.execPath,
    file: 'sample.mjs',
    driver: `
let text = ''
for await (const chunk of process.stdin) text += chunk
console.log(JSON.stringify(JSON.parse(text).map(({ header, body, secret }) => isSigned(header, Buffer.from(body), secret))))
`,
  },
  Python: {
    block: 'python',
    command: 'python3',
    file: 'sample.py',
    driver: `
import json
import sys

print(json.dumps([is_signed(c["header"], c["body"].encode(), c["secret"]) for c in json.load(sys.stdin)]))
`,
  },
  PHP: {
    block: 'php',
    command: 'php',
    file: 'sample.php',
    driver: `
echo json_encode(array_map(
    fn ($case) => is_signed($case['header'], $case['body'], $case['secret']),
    json_decode(file_get_contents('php://stdin'), true)
));
`,
  },
}

interface Case {
  header: string | null
  body: string
  secret: string
}

/** A call as the service makes it, and what somebody else might make of it. */
async function casesOf(t: ExecutionContext): Promise<{ cases: Case[]; genuine: boolean[] }> {
  const app = await startContractApp(t)
  const tenant = await createTenant(app)
  const { id, digital_webhook_secret: secret } = await createReward(tenant, {
    delivery_mode: 'digital',
    digital_asset_type: 'code',
    digital_asset_source: 'external',
    digital_webhook_url: `https://${WEBHOOK_HOST}/mint`,
  })
  const { request_headers, request_body: body } = (await tenant.rest(`POST /rewards/${id}/webhook/test`)).body
    .data
  const header = request_headers.find(({ name }: { name: string }) => name === 'X-Service-Signature')
    .value as string
  const signedAt = (seconds: number) =>
    `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`
  const now = Math.floor(Date.now() / 1000)
  const forged: Case[] = [
    { header, body, secret: `${secret}x` },
    { header, body: body.replace('false', 'true').replace('test', 'tset'), secret },
    { header: signedAt(now - 400), body, secret },
    { header: signedAt(now + 400), body, secret },
    { header: header.replace(/t=\d+/, `t=${now - 1}`).replace(/.$/, '0'), body, secret },
    { header: `${header}\n`, body, secret },
    { header: header.replace(/v1=.*/, 'v1='), body, secret },
    { header: '', body, secret },
    { header: null, body, secret },
  ]
  const cases = [{ header, body, secret }, { header: signedAt(now - 250), body, secret }, ...forged]
  return { cases, genuine: cases.map((_case, index) => index < 2) }
}

for (const [name, { block, command, file, driver }] of Object.entries(languages)) {
  const here = spawnSync(command, ['--version']).status === 0
  const testWhereItRuns = here ? test : test.skip
  testWhereItRuns(`the ${name} sample takes the service's own call and nothing else`, async (t) => {
    const sample = new RegExp(`^\`\`\`${block}\n(.*?)^\`\`\`$`, 'ms').exec(page)?.[1]
    t.truthy(sample)
    const folder = mkdtempSync(join(tmpdir(), 'loyalty-sample-'))
    t.teardown(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, file), sample + driver)
    const { cases, genuine } = await casesOf(t)
    const running = promisify(execFile)(command, [join(folder, file)])
    running.child.stdin!.end(JSON.stringify(cases))
    t.deepEqual(JSON.parse((await running).stdout), genuine)
  })
}

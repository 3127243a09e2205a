import test from 'ava'
import { parse } from 'csv-parse/sync'
import decode from 'jsqr'
import { createTenant, startApp } from '../helpers/app.js'
import { createCodes, createCustomer } from '../helpers/factories.js'

const app = await startApp({ teardown: (end) => test.after.always(end) })

test('the export has every code in the order of making, and who claimed it', async (t) => {
  const { rest } = await createTenant(app)
  const { batch, codes } = await createCodes({ rest }, { prefix: 'CAP', quantity: 3 })
  const { user_id } = await createCustomer({ rest })
  const claimed = await rest('POST /codes/claim', { user_id, code: codes[1] })
  const { created_at } = claimed.body.data.transaction
  const { status, headers, text } = await rest(`GET /code-batches/${batch.id}/export`)
  t.is(status, 200)
  t.is(headers.get('content-type'), 'text/csv; charset=utf-8')
  t.is(headers.get('content-disposition'), `attachment; filename="code-batch-${batch.id}.csv"`)
  t.is(
    text,
    [
      '"code","status","claimed_at","user_id"',
      `"${codes[0]}","available","",""`,
      `"${codes[1]}","claimed","${created_at}","${user_id}"`,
      `"${codes[2]}","available","",""`,
      '',
    ].join('\r\n'),
  )
  const json = await rest(`GET /code-batches/${batch.id}/export?format=json`)
  t.deepEqual(json.body[1], { code: codes[1], status: 'claimed', claimed_at: created_at, user_id })
  for (const code of codes) t.regex(code, /^CAP-[0-9A-HJKMNP-TV-Z]{12}$/)
})

test('an export of several pages has every code once, and all of them can be claimed', async (t) => {
  const { rest } = await createTenant(app)
  const { batch, codes } = await createCodes({ rest }, { quantity: 2500 })
  t.is(new Set(codes).size, 2500)
  const rows: { code: string }[] = parse((await rest(`GET /code-batches/${batch.id}/export`)).text, {
    columns: true,
  })
  t.deepEqual(
    rows.map(({ code }) => code),
    codes,
  )
  const { user_id } = await createCustomer({ rest })
  for (const code of [codes[0], codes[999], codes[1000], codes.at(-1)])
    t.is((await rest('POST /codes/claim', { user_id, code })).status, 200)
})

/** What a phone would read of each QR code in the document. */
function readSymbols(html: string): (string | undefined)[] {
  return [...html.matchAll(/viewBox="0 0 (\d+) \d+"[^>]*><path d="([^"]*)"/g)].map(([, size, path]) => {
    const scale = 4
    const width = Number(size) * scale
    const pixels = new Uint8ClampedArray(width * width * 4).fill(255)
    for (const [, x, y, run] of path!.matchAll(/M(\d+) (\d+)h(\d+)v1h-\3z/g))
      for (let row = 0; row < scale; row++) {
        const start = (Number(y) * scale + row) * width + Number(x) * scale
        for (let column = 0; column < Number(run) * scale; column++)
          pixels.fill(0, (start + column) * 4, (start + column) * 4 + 3)
      }
    return decode.default(pixels, width, width)?.data
  })
}

const SHEET = `query ($id: UUID!, $first: Int, $after: String) {
  codeSheet(batchId: $id, first: $first, after: $after) { html pageInfo { hasNextPage endCursor } }
}`

test('a sheet shows the codes that nobody has claimed as QR codes that read as the code, page by page', async (t) => {
  const { rest, graph } = await createTenant(app)
  const { batch, codes } = await createCodes({ rest }, { quantity: 7, name: '<script>' })
  const { user_id } = await createCustomer({ rest })
  await rest('POST /codes/claim', { user_id, code: codes[2] })
  const read: (string | undefined)[] = []
  let after: string | null = null
  let pages = 0
  for (let more = true; more; pages++) {
    const { data, errors } = await graph(SHEET, { id: batch.id, first: 4, after })
    t.is(errors, undefined)
    const { html, pageInfo } = data.codeSheet
    t.true(html.startsWith('<!doctype html>'))
    t.notRegex(html, /<script|https?:|src=|url\(/)
    read.push(...readSymbols(html))
    after = pageInfo.endCursor
    more = pageInfo.hasNextPage
  }
  t.is(pages, 2)
  const unclaimed = codes.filter((code) => code !== codes[2])
  t.deepEqual(read, unclaimed)
})

test('a sheet is no longer than ten pages of A4, whatever is asked for', async (t) => {
  const { rest, graph } = await createTenant(app)
  const { batch } = await createCodes({ rest }, { quantity: 300 })
  const { data } = await graph(SHEET, { id: batch.id })
  t.is(data.codeSheet.html.match(/<li>/g).length, 240)
  t.true(data.codeSheet.pageInfo.hasNextPage)
  const tooMany = await graph(SHEET, { id: batch.id, first: 241 })
  t.is(tooMany.errors![0].extensions.code, 'INVALID_INPUT')
})

test('codes are listed by whether they are claimed', async (t) => {
  const { rest, graph } = await createTenant(app)
  const { batch, codes } = await createCodes({ rest }, { quantity: 3 })
  const { user_id } = await createCustomer({ rest })
  await rest('POST /codes/claim', { user_id, code: codes[1] })
  const list = async (args: string) => {
    const query = `{ batchCodes(batchId: "${batch.id}"${args}) { totalCount nodes { code status userId } } }`
    return (await graph(query)).data.batchCodes
  }
  const [first, second, third] = codes.map((code) => ({ code, status: 'available', userId: null }))
  const claimed = { ...second, status: 'claimed', userId: user_id }
  t.deepEqual(await list(''), { totalCount: 3, nodes: [first, claimed, third] })
  t.deepEqual(await list(', status: claimed'), { totalCount: 1, nodes: [claimed] })
  t.deepEqual(await list(', status: available, last: 1'), { totalCount: 2, nodes: [third] })
})

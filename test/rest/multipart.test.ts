import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { AppError } from '../../src/errors.js'
import { parseMultipart } from '../../src/rest/multipart.js'
import { listen } from '../helpers/internet.js'

// Seen failing with its guard taken out: the limit of parts, the refusal of doubles, own properties for names.

const TYPE = 'multipart/form-data; boundary=B'
const END = '--B--\r\n'

const part = (name: string, rest: string, body: string | Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`--B\r\nContent-Disposition: form-data; name="${name}"${rest}\r\n\r\n`),
    Buffer.from(body),
    Buffer.from('\r\n'),
  ])
const form = (...parts: (string | Buffer)[]): Buffer =>
  Buffer.concat([...parts, END].map((each) => Buffer.from(each)))

async function refused(
  t: ExecutionContext,
  body: Buffer | string,
  message: string,
  type = TYPE,
): Promise<void> {
  const error = await t.throwsAsync(parseMultipart(type, Buffer.from(body)), { instanceOf: AppError })
  t.is(error?.message, message)
}

const INVALID = 'Request body is not valid multipart/form-data'

test('what fetch sends as a form arrives: texts as text, files as their bytes', async (t) => {
  const file = Buffer.from(Array.from({ length: 100_000 }, (_, n) => n & 255))
  let received: unknown
  const port = await listen(
    t,
    createServer(async (request, response) => {
      received = await parseMultipart(request.headers['content-type']!, await buffer(request))
      response.end()
    }),
  )
  const body = new FormData()
  body.set('image', new Blob([file], { type: 'text/plain' }), 'ä "b".jpg')
  body.set('note', 'grün')
  await fetch(`http://127.0.0.1:${port}`, { method: 'POST', body })
  t.deepEqual(received, { image: file, note: 'grün' })
})

test('a part with a file name is a file, whatever it calls its type, and none without', async (t) => {
  const body = form(
    part('a', '; filename="x.txt"\r\nContent-Type: text/plain', 'text'),
    part('b', '; filename=""', ''),
    part('c', "; filename*=UTF-8''%e2%82%ac.jpg", 'star'),
    '--B\r\nContent-Type: image/png\r\nContent-Disposition: form-data; filename=d.png; name=d\r\n\r\nbare\r\n',
    part('e', '\r\nContent-Type: application/octet-stream', 'field'),
  )
  t.deepEqual(await parseMultipart(TYPE, body), {
    a: Buffer.from('text'),
    b: Buffer.alloc(0),
    c: Buffer.from('star'),
    d: Buffer.from('bare'),
    e: 'field',
  })
})

test('a file may hold what looks like the end of a part', async (t) => {
  const file = Buffer.alloc(300_000, '\r\n--A--\r\n-B--\r--B')
  t.deepEqual(await parseMultipart(TYPE, form(part('image', '; filename="x"', file))), { image: file })
})

test('what is before and after the parts does not count', async (t) => {
  const body = Buffer.concat([Buffer.from('preamble\r\n'), form(part('a', '', 'x')), Buffer.from('epilogue')])
  t.deepEqual(await parseMultipart('multipart/form-data; charset=utf-8; boundary="B"', body), { a: 'x' })
})

test('names of JavaScript are ordinary names', async (t) => {
  const fields = await parseMultipart(TYPE, form(part('__proto__', '', 'x'), part('constructor', '', 'y')))
  t.deepEqual(Object.entries(fields), [
    ['__proto__', 'x'],
    ['constructor', 'y'],
  ])
})

test('a body that is no form, or breaks off, is refused', async (t) => {
  await refused(t, '', INVALID)
  await refused(t, 'hello', INVALID)
  await refused(t, '--B\r\nContent-Disp', INVALID)
  await refused(t, part('a', '', 'x'), INVALID)
  await refused(t, part('a', '; filename="x"', 'x'), INVALID)
  await refused(t, form('--B\r\nContent-Disposition: form-data; filename="x"\r\n\r\nx\r\n'), INVALID)
  await refused(t, form(part('a', '', 'x')), INVALID, 'multipart/form-data')
  await refused(t, form(part('a', '', 'x')), INVALID, 'multipart/mixed; boundary=B')
})

test('a name that is there twice is refused by name', async (t) => {
  await refused(
    t,
    form(part('image', '; filename="a"', 'x'), part('image', '; filename="b"', 'y')),
    'image: given more than once',
  )
  await refused(
    t,
    form(part('image', '', 'x'), part('image', '; filename="b"', 'y')),
    'image: given more than once',
  )
})

test('parts and headers without end are refused or passed over without being kept', async (t) => {
  const many = Array.from({ length: 50_000 }, (_, n) => part(`field${n}`, '', 'x'))
  await refused(t, form(...many), INVALID)
  const files = Array.from({ length: 50_000 }, (_, n) => part(`file${n}`, '; filename="x"', 'x'))
  await refused(t, form(...files), INVALID)
  const headers = `--B\r\n${'X-A: a\r\n'.repeat(500_000)}\r\nx\r\n`
  t.deepEqual(await parseMultipart(TYPE, form(headers, part('a', '', 'x'))), { a: 'x' })
})

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import { readConfig } from '../../src/config.js'
import { type ImageStore, openImageStore } from '../../src/images/image-store.js'
import { processImage } from '../../src/images/process-image.js'
import { picture } from '../helpers/hostile-images.js'
import { listen } from '../helpers/internet.js'

// Seen failing with its guard taken out: the form of keys, their part that is unique, the look whether one exists.

const BUCKET = 'loyalty-images'

async function folderStore(t: ExecutionContext) {
  const dataDir = await mkdtemp(join(tmpdir(), 'images-test-'))
  t.teardown(() => rm(dataDir, { recursive: true }))
  const folder = join(dataDir, 'images')
  return {
    store: await openImageStore(readConfig({ DATA_DIR: dataDir })),
    names: () => readdir(folder).catch(() => []),
    plant: (name: string, text: string) => writeFile(join(dataDir, name), text),
    fileOf: (key: string) => readFile(join(folder, key)),
  }
}

/** What of S3 a store of objects uses, over HTTP on loopback; of its extras it knows neither ACLs nor checksums. */
async function bucketStore(t: ExecutionContext) {
  const objects = new Map<string, { body: Buffer; type: string | undefined }>()
  const port = await listen(
    t,
    createServer(async (request, response) => {
      const body = await buffer(request)
      const path = request.url!.split('?')[0]!
      const found = objects.get(path)
      const extras = Object.keys(request.headers).some((name) =>
        /^x-amz-(acl|sdk-checksum|checksum)/.test(name),
      )
      if (extras) response.writeHead(501).end()
      else if (!request.headers.authorization?.includes('Credential=test-key/')) response.writeHead(403).end()
      else if (request.method === 'PUT') {
        objects.set(path, { body, type: request.headers['content-type'] })
        response.end()
      } else if (request.method === 'DELETE') {
        objects.delete(path)
        response.writeHead(204).end()
      } else if (!found) response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>')
      else
        response
          .writeHead(200, { 'Content-Length': found.body.length })
          .end(request.method === 'HEAD' ? '' : found.body)
    }),
  )
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test-key', AWS_SECRET_ACCESS_KEY: 'test-secret' })
  const config = readConfig({
    IMAGES_S3_BUCKET: BUCKET,
    IMAGES_S3_REGION: 'eu-central-1',
    IMAGES_S3_ENDPOINT: `http://127.0.0.1:${port}`,
  })
  const prefix = `/${BUCKET}/`
  return {
    store: await openImageStore(config),
    names: async () => [...objects.keys()].map((path) => path.replace(prefix, '')),
    plant: async (name: string, text: string) => {
      objects.set(prefix + name, { body: Buffer.from(text), type: undefined })
    },
    fileOf: async (key: string) => objects.get(prefix + key)!.body,
  }
}

const image = async () => processImage('image', await picture().png().toBuffer())

async function bytesOf(store: ImageStore, key: string): Promise<Buffer | undefined> {
  const found = await store.read(key)
  return found && buffer(found.body)
}

for (const [where, open] of Object.entries({ 'a folder': folderStore, 'a bucket': bucketStore })) {
  test(`${where} gives back what was put, with its type and hash, until it is deleted`, async (t) => {
    const { store, names, fileOf } = await open(t)
    const put = await image()
    const key = await store.put(put)
    t.deepEqual(await names(), [key])
    t.deepEqual(await fileOf(key), put.bytes)
    const found = await store.read(key)
    t.like(found, { contentType: 'image/png', sha256: put.sha256 })
    t.deepEqual(await buffer(found!.body), put.bytes)
    await store.delete(key)
    t.is(await store.read(key), undefined)
    t.deepEqual(await names(), [])
    await t.notThrowsAsync(store.delete(key))
  })

  test(`${where} keeps the same picture sent twice under two keys, so that deleting one leaves the other`, async (t) => {
    const { store } = await open(t)
    const put = await image()
    const [one, other] = [await store.put(put), await store.put(put)]
    t.not(one, other)
    await store.delete(one)
    t.deepEqual(await bytesOf(store, other), put.bytes)
  })

  test(`${where} gives nothing for a key that is none of its own`, async (t) => {
    const { store, plant } = await open(t)
    const key = await store.put(await image())
    await plant('secret.key', 'secret')
    for (const other of [
      '',
      '.',
      '..',
      '../secret.key',
      '%2e%2e%2fsecret.key',
      'secret.key',
      `${key}/..`,
      `../images/${key}`,
      `/${key}`,
      `${key}\0`,
      `${key}\n`,
      key.replace('.png', '.svg'),
      key.replace('.png', '.jpg'),
      key.toUpperCase(),
    ])
      t.is(await store.read(other), undefined, other)
  })
}

test('a bucket that does not answer as asked is a fault, not a missing image', async (t) => {
  const port = await listen(
    t,
    createServer((_request, response) => response.writeHead(403).end()),
  )
  const env = { IMAGES_S3_BUCKET: BUCKET, IMAGES_S3_ENDPOINT: `http://127.0.0.1:${port}` }
  Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'test-key', AWS_SECRET_ACCESS_KEY: 'test-secret' })
  const store = await openImageStore(readConfig(env))
  const put = await image()
  await t.throwsAsync(store.put(put))
  await t.throwsAsync(store.read(`${put.sha256}-${'0'.repeat(36)}.png`))
})

test('settings of a bucket without its name leave images in the folder', (t) => {
  t.is(readConfig({ IMAGES_S3_REGION: 'eu-west-1' }).imagesS3, undefined)
  t.throws(() => readConfig({ IMAGES_S3_ENDPOINT: 'minio:9000' }), {
    message: /IMAGES_S3_ENDPOINT: must be an http\(s\) URL/,
  })
})

import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Config, SECRET_LENGTH_MIN } from './config.js'
import { removeLeftovers, scratchName } from './database/scratch.js'
import { OperatorError } from './operator-error.js'

/** Everything that is derived from the operator's one secret. */
export interface Secrets {
  /** HMAC-SHA-256 of an API key (32 bytes): what the database stores instead of the key. */
  keyDigest(apiKey: string): Buffer
  /** HMAC-SHA-256 of a request (32 bytes), for idempotency: equal requests have equal fingerprints. */
  fingerprint(text: string): Buffer
  /** Encrypts with AES-256-GCM; the result carries the id of the key that sealed it. */
  seal(plain: string): Buffer
  /** Undoes `seal`; throws if no key of ours sealed it or a byte was changed. */
  open(sealed: Uint8Array): string
}

const IV_BYTES = 12
const TAG_BYTES = 16
const ID_BYTES = 4

const derive = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, 'loyalty-business-api', purpose, 32))

/** Derives the keys; `previous` secrets can still open what they sealed. */
export function createSecrets(secret: string, previous: readonly string[] = []): Secrets {
  const pepper = derive(secret, 'api-key pepper')
  const fingerprintKey = derive(secret, 'request fingerprint')
  const sealing = [secret, ...previous].map((each) => {
    const key = derive(each, 'sealing')
    return { key, id: createHash('sha256').update(key).digest().subarray(0, ID_BYTES) }
  })
  const current = sealing[0]!

  return {
    keyDigest: (apiKey) => createHmac('sha256', pepper).update(apiKey).digest(),
    fingerprint: (text) => createHmac('sha256', fingerprintKey).update(text).digest(),
    seal(plain) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv('aes-256-gcm', current.key, iv)
      const body = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return Buffer.concat([current.id, iv, cipher.getAuthTag(), body])
    },
    open(sealed) {
      const bytes = Buffer.from(sealed)
      const id = bytes.subarray(0, ID_BYTES)
      const found = sealing.find((each) => each.id.equals(id))
      if (!found)
        throw new Error('sealed by a secret that is not configured (SECRET_KEY, SECRET_KEYS_PREVIOUS)')
      const iv = bytes.subarray(ID_BYTES, ID_BYTES + IV_BYTES)
      const tag = bytes.subarray(ID_BYTES + IV_BYTES, ID_BYTES + IV_BYTES + TAG_BYTES)
      const decipher = createDecipheriv('aes-256-gcm', found.key, iv)
      decipher.setAuthTag(tag)
      const body = bytes.subarray(ID_BYTES + IV_BYTES + TAG_BYTES)
      return Buffer.concat([decipher.update(body), decipher.final()]).toString('utf8')
    },
  }
}

/** The secrets of this installation: from the environment, or generated once into the data folder (0600). */
export function loadSecrets(config: Config): Secrets {
  return createSecrets(config.secretKey ?? generatedSecret(config.dataDir), config.secretKeysPrevious)
}

/** A first start makes it; of two at once both end up with the same, and what is there is always whole. */
function generatedSecret(dataDir: string): string {
  const file = join(dataDir, 'secret.key')
  if (!existsSync(file)) {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    removeLeftovers(file)
    const scratch = scratchName(file)
    writeFileSync(scratch, randomBytes(32).toString('base64url'), { mode: 0o600, flush: true })
    try {
      // Unlike a rename, a link never replaces: the loser reads what the winner wrote.
      linkSync(scratch, file)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    } finally {
      rmSync(scratch)
    }
  }
  const secret = readFileSync(file, 'utf8').trim()
  if (secret.length < SECRET_LENGTH_MIN)
    throw new OperatorError(
      `the file ${file} is damaged: put its backup in place. Without it no API key of this installation works; if that is acceptable, delete the file and create new keys`,
    )
  return secret
}

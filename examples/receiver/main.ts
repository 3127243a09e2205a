import { createServer } from 'node:http'
import { createReceiver } from './receiver.js'
import { fileStore } from './store.js'

const { WEBHOOK_SECRETS, STORE_DIR = './minted', PORT = '4000' } = process.env
if (!WEBHOOK_SECRETS) throw new Error('set WEBHOOK_SECRETS to the signing secrets, separated by commas')

const receiver = createReceiver({ secrets: WEBHOOK_SECRETS.split(','), store: await fileStore(STORE_DIR) })
createServer(receiver).listen(Number(PORT), '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${PORT}`)
})

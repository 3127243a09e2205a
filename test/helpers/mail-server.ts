import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import type { ExecutionContext } from 'ava'
import pino, { type Logger } from 'pino'
import PostalMime, { type Email } from 'postal-mime'
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server'
import { createMailer } from '../../src/mail/mailer.js'
import type { MailServices } from '../../src/mail/send-due-mails.js'

/** What the server does in place of taking every message; it can be changed while it runs. */
interface Conduct {
  /** `550 5.1.1 …` in answer to the recipient. */
  refuseRecipient?: string
  /** `451 4.7.1 …` in answer to the message. */
  refuseMessage?: string
  /** Is silent from here on. */
  hang?: 'greeting' | 'message'
  /** Takes the message and cuts the connection before it says so. */
  dropAfterMessage?: boolean
}

export interface ReceivedMail {
  /** From the envelope. */
  recipients: string[]
  raw: string
  /** As a mail program reads it. */
  email: Email
}

/** A real SMTP server, and all that reached it, taken or not. */
export interface TestMailServer {
  url: string
  conduct: Conduct
  received: ReceivedMail[]
  /** User names that somebody tried to log in with. */
  logins: string[]
  /** Resolves when a connection is open. */
  visited(): Promise<void>
}

const refusal = (reply: string) =>
  Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) })

export async function startMailServer(
  t: Pick<ExecutionContext, 'teardown'>,
  conduct: Conduct = {},
  options: SMTPServerOptions = { disabledCommands: ['AUTH', 'STARTTLS'] },
): Promise<TestMailServer> {
  const mailServer: TestMailServer = {
    url: '',
    conduct,
    received: [],
    logins: [],
    visited: async () => {
      if (server.connections.size === 0) await once(server.server, 'connection')
    },
  }
  const cut = ({ id }: SMTPServerSession) => {
    for (const connection of server.connections) if (connection.id === id) connection._socket.destroy()
  }
  const server = new SMTPServer({
    logger: false,
    disableReverseLookup: true,
    ...options,
    onConnect: (_session, done) => {
      if (mailServer.conduct.hang !== 'greeting') done()
    },
    onAuth: ({ username }, _session, done) => {
      mailServer.logins.push(username!)
      done(null, { user: username })
    },
    onRcptTo: (_address, _session, done) => {
      const { refuseRecipient } = mailServer.conduct
      done(refuseRecipient === undefined ? null : refusal(refuseRecipient))
    },
    onData: async (stream, session, done) => {
      const raw = (await buffer(stream)).toString('latin1')
      const recipients = session.envelope.rcptTo.map(({ address }) => address)
      const email = await PostalMime.parse(Buffer.from(raw, 'latin1'))
      mailServer.received.push({ recipients, raw, email })
      const { hang, dropAfterMessage, refuseMessage } = mailServer.conduct
      if (hang === 'message') return
      if (dropAfterMessage) cut(session)
      else done(refuseMessage === undefined ? null : refusal(refuseMessage))
    },
  })
  // A connection that a test cuts off.
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  t.teardown(() => {
    for (const connection of server.connections) connection._socket.destroy()
    return new Promise<void>((closed) => server.close(closed))
  })
  const { port } = server.server.address() as AddressInfo
  mailServer.url = `smtp://127.0.0.1:${port}`
  return mailServer
}

const silent = pino({ level: 'silent' })

/** An instance of the service that sends its e-mails to a server. */
export const withMailer = (
  services: Omit<MailServices, 'mailer'>,
  smtpUrl: string | undefined,
  log: Logger = silent,
): MailServices => ({
  ...services,
  mailer: createMailer({ smtpUrl, mailFrom: 'loyalty@example.org' }, log),
})

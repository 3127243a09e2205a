import { createTransport } from 'nodemailer'
import SmtpTransport from 'nodemailer/lib/smtp-transport'
import type { Logger } from 'pino'
import type { Config } from '../config.js'
import { failureOf, type MailFailure } from './smtp-failure.js'

/** An e-mail to one person. */
export interface Message {
  /** The same for every attempt: its Message-ID is made of it, so that a receiver can tell a repeated one. */
  id: string
  to: string
  /** Who is shown as the sender, and to whom answers go. */
  sender: { name: string; email: string }
  subject: string
  text: string
  html: string
}

export interface Mailer {
  /** Tries once, in bounded time. Nothing that the mail server or the network does makes it throw. */
  send(message: Message): Promise<MailFailure | undefined>
}

const DEADLINE_MS = 20_000
/** A healthy server answers each step within these; the URL of the server may say otherwise. */
const TIMEOUTS = {
  dnsTimeout: 5_000,
  connectionTimeout: 5_000,
  greetingTimeout: 5_000,
  socketTimeout: 10_000,
}

/** The way to the mail server of SMTP_URL; undefined without one, which the log says. */
export function createMailer(
  { smtpUrl, mailFrom }: Pick<Config, 'smtpUrl' | 'mailFrom'>,
  log: Logger,
): Mailer | undefined {
  if (smtpUrl === undefined) {
    log.warn('SMTP_URL is not set: e-mails to customers wait until it is')
    return undefined
  }
  // One connection for one message: a pool would repeat an attempt without our knowing.
  const transport = createTransport(
    new SmtpTransport({
      ...TIMEOUTS,
      // Whoever can strip STARTTLS from a server's offer must not get its password.
      requireTLS: new URL(smtpUrl).username !== '',
      url: smtpUrl,
    }),
  )
  const domain = mailFrom.slice(mailFrom.lastIndexOf('@') + 1)
  return {
    async send({ id, to, sender, subject, text, html }) {
      try {
        await transport.sendMail({
          messageId: `<${id}@${domain}>`,
          from: { name: sender.name, address: mailFrom },
          replyTo: { name: sender.name, address: sender.email },
          to: { name: '', address: to },
          subject,
          text,
          html,
          // No out-of-office note in return (RFC 3834).
          headers: { 'Auto-Submitted': 'auto-generated' },
          signal: AbortSignal.timeout(DEADLINE_MS),
        })
        return undefined
      } catch (error) {
        const failure = failureOf(error)
        log.warn({ mail: id, reason: failure.reason }, 'e-mail not sent')
        return failure
      }
    },
  }
}

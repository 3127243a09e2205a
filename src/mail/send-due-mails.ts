import type { Services } from '../context.js'
import type { Secrets } from '../secrets.js'
import { assetMessage } from './asset-message.js'
import type { Mailer } from './mailer.js'
import { buryCutOffMails, type DueMail, settleAttempt, takeDueMail } from './queue.js'
import type { MailFailure } from './smtp-failure.js'

export interface MailServices extends Pick<Services, 'database' | 'secrets' | 'clock'> {
  /** Undefined = no mail server is configured: mails wait. */
  readonly mailer: Mailer | undefined
}

/** Mails on their way at once, of one instance. */
const SENDERS = 5
/** No mail is taken after this, so that a sweep ends before the next begins however slow the mail server is. */
const TAKING_MS = 20_000

/**
 * Sends the mails that are due; returns how many the mail server took. Any number of instances may do so at once: each
 * mail is sent by one of them. A mail is sent again only where its sender could not learn or tell how it had ended,
 * under the same Message-ID.
 */
export async function sendDueMails({ database, secrets, clock, mailer }: MailServices): Promise<number> {
  if (!mailer) return 0
  const { sql } = database
  await buryCutOffMails(sql, clock.now())
  const stopAt = performance.now() + TAKING_MS
  const sendUntilNoneIsDue = async (): Promise<number> => {
    let sent = 0
    while (performance.now() < stopAt) {
      const mail = await takeDueMail(sql, clock.now())
      if (!mail) break
      const failure = await attempt(mail, mailer, secrets)
      await settleAttempt(sql, mail, failure, clock.now())
      if (!failure) sent++
    }
    return sent
  }
  const counts = await Promise.all(Array.from({ length: SENDERS }, sendUntilNoneIsDue))
  return counts.reduce((sum, count) => sum + count, 0)
}

async function attempt(mail: DueMail, mailer: Mailer, secrets: Secrets): Promise<MailFailure | undefined> {
  if (mail.to === null) return { reason: 'the customer has no e-mail address any more', permanent: true }
  let value: string
  try {
    value = secrets.open(mail.assetValue)
  } catch {
    return { reason: 'the value cannot be opened: SECRET_KEY has changed', permanent: false }
  }
  return mailer.send(assetMessage(mail, mail.to, value))
}

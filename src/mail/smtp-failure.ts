import type { NodemailerError } from 'nodemailer'

/** Why an e-mail was not sent. */
export interface MailFailure {
  /** In words of ours: never the address or the text of the e-mail, which a mail server's own words may repeat. */
  reason: string
  /** Trying again would end the same. */
  permanent: boolean
}

const WORDS: Readonly<Record<string, string>> = {
  EDNS: 'the mail server was not found',
  ESOCKET: 'no connection to the mail server',
  ECONNECTION: 'the mail server closed the connection',
  ETIMEDOUT: 'the mail server did not answer in time',
  EABORT: 'the mail server did not answer in time',
  ETLS: 'no TLS with the mail server',
  EPROTOCOL: 'the mail server answered with something else than SMTP',
  EAUTH: 'the mail server refused the login',
  EENVELOPE: 'the mail server refused the sender or the recipient',
  EMESSAGE: 'the mail server refused the message',
}

/** Steps at which a refusal is about this e-mail; at the others it is about the service as a sender. */
const ABOUT_THE_MAIL: readonly (string | undefined)[] = ['RCPT TO', 'DATA']

/** What nodemailer's error means. Throws the error itself where it is none of nodemailer's: a fault of ours. */
export function failureOf(error: unknown): MailFailure {
  const { code, command, originalCode, response, permanent } = error as NodemailerError
  const words = code === undefined ? undefined : WORDS[code]
  if (words === undefined) throw error
  const reply = replyCode(response)
  const detail = reply === undefined ? originalCode : `${command} ${reply}`
  return {
    reason: detail === undefined ? words : `${words} (${detail})`,
    permanent: permanent === true && ABOUT_THE_MAIL.includes(command),
  }
}

/** `550 5.1.1` of `550-5.1.1 <ada@example.com>: unknown`. */
function replyCode(response: string | undefined): string | undefined {
  const match = /^(\d{3})(?:[ -](\d\.\d{1,3}\.\d{1,3})\b)?/.exec(response ?? '')
  return match ? match.slice(1).filter(Boolean).join(' ') : undefined
}

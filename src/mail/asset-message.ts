import type { Message } from './mailer.js'
import type { DueMail } from './queue.js'

/** The e-mail with a redemption's code or link (spec §2, `digital_email_delivery`), in plain words. */
export function assetMessage(mail: DueMail, to: string, value: string): Message {
  const business = oneLine(mail.businessName)
  const reward = oneLine(mail.rewardName)
  const redeemed = `You have redeemed “${reward}” at ${business}.`
  const announced = `Your ${mail.assetType}:`
  const validity = mail.assetExpiresAt && `Valid until ${readableMoment(mail.assetExpiresAt, mail.timezone)}.`
  return {
    id: mail.id,
    to,
    sender: { name: business, email: mail.businessEmail },
    subject: `Your ${mail.assetType} for ${reward}`,
    text: [redeemed, `${announced}\n${value}`, validity, business].filter(Boolean).join('\n\n'),
    html: page(redeemed, announced, asHtml(mail.assetType, value), validity, business),
  }
}

/** Names may hold line breaks and other control characters; in a header, or in a sentence, they have no place. */
const oneLine = (name: string): string => name.replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()

/** `31 December 2026, 23:59 (Europe/Berlin)`. */
function readableMoment(moment: Date, timeZone: string): string {
  const date = moment.toLocaleDateString('en-GB', { timeZone, dateStyle: 'long' })
  const time = moment.toLocaleTimeString('en-GB', { timeZone, timeStyle: 'short' })
  return `${date}, ${time} (${timeZone})`
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)

function asHtml(type: DueMail['assetType'], value: string): string {
  const shown = escapeHtml(value)
  return type === 'link'
    ? `<a href="${shown}">${shown}</a>`
    : `<strong style="font-family: monospace; white-space: pre-wrap">${shown}</strong>`
}

const page = (
  redeemed: string,
  announced: string,
  value: string,
  validity: string | null,
  business: string,
): string => `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${escapeHtml(business)}</title></head>
<body style="font-family: sans-serif">
<p>${escapeHtml(redeemed)}</p>
<p>${announced}<br>${value}</p>
${validity === null ? '' : `<p>${escapeHtml(validity)}</p>\n`}<p>${escapeHtml(business)}</p>
</body>
</html>
`

import * as z from 'zod'
import { text, upload } from '../graphql/bounds.js'
import { MAX_WEBHOOK_URL_LENGTH, webhookUrlProblem } from '../outbound/webhook-url.rules.js'

/** A public https address that the service is to call (docs: decisions, Rewards, Webhook URL). */
export const publicHttpsUrl = text(1, MAX_WEBHOOK_URL_LENGTH).check(({ value, issues }) => {
  const message = webhookUrlProblem(value)
  if (message !== undefined) issues.push({ code: 'custom', message, input: value })
})

/** The three ways to send an image (spec §4, POST /rewards/{id}/image), as fields of an input. */
export const imageFields = {
  image: upload().nullish(),
  imageBase64: z.string('must be a string').nullish().describe('Raw, or a `data:image/…;base64,` URI.'),
  contentType: z
    .string('must be a string')
    .nullish()
    .describe('Of raw base64: image/jpeg, image/png or image/webp.'),
  imageUrl: publicHttpsUrl.nullish().describe('Public https address, downloaded once.'),
}

export const IMAGE_DESCRIPTION = 'A JPEG, PNG or WebP of at most 5 MB, from exactly one source.'

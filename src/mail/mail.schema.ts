import * as z from 'zod'
import { type Mail, MailStatus } from '../database/generated/prisma/client.js'
import { oneOf, uuid } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { connectionType, pageArgs, pageComplexity } from '../graphql/connection.js'
import { enumOf } from '../graphql/enums.js'
import { mutation, query } from '../graphql/fields.js'
import { inputType } from '../graphql/input.js'
import { listMails, retryMail } from './mails.js'

const MailType = builder.objectRef<Mail>('Mail').implement({
  description: 'An e-mail with the code or link of a redemption; neither its text nor the address.',
  fields: (t) => ({
    id: t.expose('id', { type: 'UUID' }),
    redemptionId: t.expose('redemptionId', { type: 'UUID' }),
    userId: t.expose('customerId', { type: 'UUID' }),
    status: t.expose('status', {
      type: enumOf('MailStatus', MailStatus),
      description: '`waiting` to be sent, `sent`, or `dead`: given up until it is retried.',
    }),
    attempts: t.exposeInt('attempts', { description: 'How often it was tried, at most 10 times.' }),
    nextAttemptAt: t.field({
      type: 'DateTime',
      nullable: true,
      description: 'Not before this moment; null unless it is waiting.',
      resolve: ({ status, nextAttemptAt }) => (status === 'waiting' ? nextAttemptAt : null),
    }),
    lastError: t.exposeString('lastError', {
      nullable: true,
      description: 'Why the last attempt failed; null once it is sent.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime' }),
    sentAt: t.expose('sentAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the mail server took it.',
    }),
  }),
})

query('mails', {
  description: 'E-mails to customers, newest first.',
  type: connectionType('Mail', MailType),
  args: z.strictObject({ ...pageArgs, status: oneOf('MailStatus', MailStatus).nullish() }),
  scope: 'redemptions:read',
  complexity: pageComplexity,
  resolve: listMails,
})

mutation('retryMail', {
  description: 'Puts an e-mail that was given up back into the queue.',
  type: MailType,
  input: inputType('RetryMailInput', z.strictObject({ id: uuid() })),
  scope: 'redemptions:write',
  errors: ['MAIL_NOT_FOUND', 'MAIL_NOT_RETRYABLE'],
  resolve: retryMail,
})

import { type Context, transaction } from '../context.js'
import type { Mail, MailStatus, Prisma } from '../database/generated/prisma/client.js'
import { AppError } from '../errors.js'
import { type Page, type PageArgs, pageOf, pageRequest, prismaPage } from '../graphql/connection.js'

/** E-mails to customers, newest first; `dead` are those that were given up. */
export async function listMails(
  ctx: Context,
  { status, ...page }: PageArgs & { status?: MailStatus | null | undefined },
): Promise<Page<Mail>> {
  const listed: Prisma.MailWhereInput = { businessId: ctx.business.id, ...(status == null ? {} : { status }) }
  const request = pageRequest(page)
  const { where, ...order } = prismaPage(request)
  const found = await ctx.db.mail.findMany({ ...order, where: { ...listed, ...where } })
  return pageOf(request, found, () => ctx.db.mail.count({ where: listed }))
}

/**
 * Puts an e-mail that was given up back into the queue, with all attempts before it. Throws MAIL_NOT_FOUND, or
 * MAIL_NOT_RETRYABLE with the status it has.
 */
export function retryMail(ctx: Context, { id }: { id: string }): Promise<Mail> {
  return transaction(ctx, async ({ db, business, now }) => {
    const { count } = await db.mail.updateMany({
      where: { businessId: business.id, id, status: 'dead' },
      data: { status: 'waiting', attempts: 0, nextAttemptAt: now },
    })
    const mail = await db.mail.findUnique({ where: { businessId_id: { businessId: business.id, id } } })
    if (!mail) throw new AppError('MAIL_NOT_FOUND')
    if (count === 0) throw new AppError('MAIL_NOT_RETRYABLE', mail.status)
    ctx.customerIds.add(mail.customerId)
    return mail
  })
}

import * as z from 'zod'
import { country } from '../businesses/bounds.js'
import type { Context } from '../context.js'
import { text } from '../graphql/bounds.js'
import { builder } from '../graphql/builder.js'
import { inputType } from '../graphql/input.js'

/** Where a parcel goes (docs: decisions, Redemptions). Personal data: stored sealed, erased with the customer. */
export const ShippingAddressInput = inputType(
  'ShippingAddressInput',
  z.strictObject(
    {
      name: text(1, 200),
      line1: text(1, 200),
      line2: text(1, 200).nullish(),
      city: text(1, 100),
      region: text(1, 100).nullish(),
      postalCode: text(1, 20).nullish(),
      country: country(),
      phone: text(1, 32).nullish(),
    },
    'must be an object',
  ),
  'Where a parcel goes.',
)

export type ShippingAddress = z.output<typeof ShippingAddressInput>

export const sealAddress = (ctx: Context, address: ShippingAddress): Uint8Array =>
  ctx.secrets.seal(JSON.stringify(address))

export const openAddress = (ctx: Context, sealed: Uint8Array): ShippingAddress =>
  JSON.parse(ctx.secrets.open(sealed)) as ShippingAddress

export const ShippingAddressType = builder.objectRef<ShippingAddress>('ShippingAddress').implement({
  fields: (t) => ({
    name: t.exposeString('name'),
    line1: t.exposeString('line1'),
    line2: t.string({ nullable: true, resolve: (address) => address.line2 ?? null }),
    city: t.exposeString('city'),
    region: t.string({ nullable: true, resolve: (address) => address.region ?? null }),
    postalCode: t.string({ nullable: true, resolve: (address) => address.postalCode ?? null }),
    country: t.exposeString('country'),
    phone: t.string({ nullable: true, resolve: (address) => address.phone ?? null }),
  }),
})

import test from 'ava'
import { isPublicAddress } from '../../src/outbound/address.rules.js'
import { PRIVATE_ADDRESSES, PUBLIC_ADDRESSES } from '../helpers/addresses.js'

// Seen failing with its guard taken out: each condition of isPublicAddress, and ipaddr.js left alone with `::8.8.8.8`.

for (const [what, addresses] of Object.entries(PRIVATE_ADDRESSES))
  test(`not public: ${what}`, (t) => {
    for (const address of addresses) t.false(isPublicAddress(address), address)
  })

test('every other address is public, up to the borders of those ranges', (t) => {
  for (const address of PUBLIC_ADDRESSES) t.true(isPublicAddress(address), address)
})

test('what is not an IP address is not public', (t) => {
  for (const text of [
    '',
    'example.com',
    '8.8.8',
    '8.8.8.8.8',
    '010.8.8.8',
    '0x8.8.8.8',
    '134744072',
    '[2606:4700::1]',
    '8.8.8.8 ',
  ])
    t.false(isPublicAddress(text), text)
})

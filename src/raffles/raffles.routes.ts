import { balance } from '../points/points.routes.js'
import type { Route } from '../rest/route.js'
import { transactionBrief } from '../transactions/transactions.routes.js'

/** The resource of spec §2, Raffle. */
const raffle = /* GraphQL */ `fragment Raffle on Raffle {
  id business_id: businessId name description terms_conditions: termsConditions
  starts_at: startsAt ends_at: endsAt points_cost: pointsCost entries_per_user: entriesPerUser
  winners_count: winnersCount max_entries: maxEntries max_entries_mode: maxEntriesMode
  image_url: imageUrl status availability
  drawn_at: drawnAt completed_at: completedAt cancelled_at: cancelledAt
  created_at: createdAt updated_at: updatedAt
  total_entries: totalEntries unique_entrants: uniqueEntrants
  entries_remaining_global: entriesRemainingGlobal is_full: isFull
}`

const one = { params: { id: 'id' }, notFound: 'RAFFLE_NOT_FOUND', status: 200 } as const
const change = { ...one, params: { id: 'input.id' } } as const

export const raffleRoutes: Route[] = [
  {
    method: 'get',
    path: '/raffles',
    operation: `query { raffles: allRaffles { ...Raffle } } ${raffle}`,
    status: 200,
    message: 'Raffles retrieved successfully',
  },
  {
    method: 'post',
    path: '/raffles',
    operation: `mutation ($input: CreateRaffleInput!) { raffle: createRaffle(input: $input) { ...Raffle } } ${raffle}`,
    status: 201,
    message: 'Raffle created successfully',
    addition: true,
  },
  {
    ...one,
    method: 'get',
    path: '/raffles/:id',
    operation: `query ($id: UUID!) { raffle(id: $id) { ...Raffle } } ${raffle}`,
    message: 'Raffle retrieved successfully',
    addition: true,
  },
  {
    ...change,
    method: 'patch',
    path: '/raffles/:id',
    operation: `mutation ($input: UpdateRaffleInput!) { raffle: updateRaffle(input: $input) { ...Raffle } } ${raffle}`,
    message: 'Raffle updated successfully',
    addition: true,
  },
  {
    ...change,
    method: 'post',
    path: '/raffles/:id/entries',
    operation: /* GraphQL */ `mutation ($input: EnterRaffleInput!) {
      enterRaffle(input: $input) {
        entry {
          raffle_id: raffleId user_id: userId entrant_id: entrantId entries user_entries: userEntries
        }
        transaction { ...TransactionBrief } balance { ...Balance }
      }
    } ${transactionBrief} ${balance}`,
    params: { id: 'input.raffleId' },
    data: 'unwrap',
    message: 'Raffle entered successfully',
    addition: true,
  },
  {
    ...change,
    method: 'post',
    path: '/raffles/:id/end',
    operation: `mutation ($input: EndRaffleInput!) { raffle: endRaffle(input: $input) { ...Raffle } } ${raffle}`,
    message: 'Raffle ended successfully',
  },
  {
    ...change,
    method: 'post',
    path: '/raffles/:id/confirm',
    operation: `mutation ($input: ConfirmRaffleInput!) { raffle: confirmRaffle(input: $input) { ...Raffle } } ${raffle}`,
    message: 'Raffle confirmed successfully',
    addition: true,
  },
  {
    ...change,
    method: 'post',
    path: '/raffles/:id/cancel',
    operation: `mutation ($input: CancelRaffleInput!) { raffle: cancelRaffle(input: $input) { ...Raffle } } ${raffle}`,
    message: 'Raffle cancelled successfully',
  },
  {
    ...one,
    method: 'get',
    path: '/raffles/:id/winners',
    operation: `query ($id: UUID!) { winners: raffleWinners(id: $id) { rank user_id: userId entries } }`,
    message: 'Winners retrieved successfully',
    addition: true,
  },
  {
    ...one,
    method: 'get',
    path: '/raffles/:id/proof',
    // Entrants, not users: whoever is given the proof learns nothing of a person.
    operation: /* GraphQL */ `query ($id: UUID!) {
      proof: raffleProof(id: $id) {
        raffle_id: raffleId algorithm seed_hash: seedHash seed entries_hash: entriesHash entry_list: entryList
        winners_count: winnersCount drawn_at: drawnAt
        winners { rank entrant_id: entrantId entries }
      }
    }`,
    message: 'Proof retrieved successfully',
    addition: true,
  },
  {
    ...change,
    method: 'post',
    path: '/raffles/:id/image',
    operation: `mutation ($input: SetRaffleImageInput!) { setRaffleImage(input: $input) { image_url: imageUrl } }`,
    data: 'unwrap',
    multipart: true,
    message: 'Raffle image saved successfully',
    addition: true,
  },
  {
    ...change,
    method: 'delete',
    path: '/raffles/:id/image',
    operation: `mutation ($input: DeleteRaffleImageInput!) { deleteRaffleImage(input: $input) { id @skip(if: true) } }`,
    data: 'unwrap',
    message: 'Raffle image deleted successfully',
  },
]

import * as z from 'zod'
import { resources, type Scope } from '../context.js'
import { text } from '../graphql/bounds.js'
import { isTimeZone } from '../time.js'

/** What a business and its keys are described with: the same words at the command line and in the graph. */

/** Name of a business or of a key. */
export const name = () => text(1, 200)

export const email = () => text(3, 320).regex(/^[^\s@]+@[^\s@]+$/, 'must be an e-mail address')

/** The officially assigned codes; `Intl` would also take groups, reserved and private ones (EU, UK, XK). */
const COUNTRIES = new Set(
  `AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ
   CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR
   GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO
   JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR
   MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO
   RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV
   TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW`.split(/\s+/),
)

export const country = () =>
  z.string().refine((code) => COUNTRIES.has(code), 'must be an ISO 3166-1 alpha-2 country code in capitals')

export const timezone = () => text(1, 64).refine(isTimeZone, 'must be an IANA time zone')

const CURRENCIES = new Set(Intl.supportedValuesOf('currency'))

export const currency = () =>
  text(3, 3).refine((code) => CURRENCIES.has(code), 'must be an ISO 4217 currency code')

const SCOPES = resources.flatMap((resource): Scope[] => [`${resource}:read`, `${resource}:write`])

/** What a key may do; at least one, because no scope at all means full access. */
export const scopes = () =>
  z
    .array(
      z.enum(SCOPES, {
        error: ({ input }) =>
          `${JSON.stringify(input)} is not a scope; write <resource>:read or <resource>:write with a resource of ${resources.join(', ')}`,
      }),
    )
    .min(1, 'must name at least one scope; leave it out for full access')
    .transform((given) => [...new Set(given)])

import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { OperatorError } from '../../src/operator-error.js'
import { importPurchases } from './import.js'

/**
 * `npm run import -- --url http://127.0.0.1:3000 --key lby_live_… purchases.csv`: books the purchases of a CSV file
 * (customer, date, amount) as points, through POST /points/issue.
 *
 * - A customer is made on first sight, with the file's number as an identifier, unless the business has one of that
 *   identifier already.
 * - Each request has an Idempotency-Key of the file's hash and its line: the same file again, within the 24 hours for
 *   which the service remembers keys, changes nothing. After that it would book everything once more.
 * - Over a rate limit it waits as long as the service says; an import of many lines wants the limits raised for its
 *   time (RATE_LIMIT_POINTS_PER_MINUTE, RATE_LIMIT_DEFAULT_PER_MINUTE).
 * - Prints one JSON object: lines, issued, replayed, failed, total_amount, total_points, customers. Lines that were
 *   refused are named on standard error, and it ends with 1.
 *
 * A file of padded columns without a header, its second the customer, third the day (YYYYMMDD), fifth the amount:
 * `--separator whitespace --no-header --customer 2 --date 3 --amount 5 --date-format yyyymmdd`.
 */
const positive = (text: string): number => {
  if (!/^[1-9]\d{0,2}$/.test(text)) throw new InvalidArgumentError('a number from 1 to 999')
  return Number(text)
}
const separator = (text: string): string => {
  if (text === 'tab') return '\t'
  if (text !== 'whitespace' && text.length !== 1)
    throw new InvalidArgumentError('one character, tab or whitespace')
  return text
}
const content = (path: string): Uint8Array => {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
}

interface Arguments {
  url: string
  key: string
  customer: string
  date: string
  amount: string
  separator: string
  header: boolean
  dateFormat: 'iso' | 'yyyymmdd'
  timezone?: string
  concurrency: number
}

const program = new Command('npm run import --')
  .description('Books the purchases of a CSV file as points, each of them once however often it is run.')
  .argument('<file>', 'the CSV file, in UTF-8', content)
  .addOption(new Option('--url <url>', 'of the service').default('http://127.0.0.1:3000'))
  .addOption(
    new Option('--key <key>', 'an API key of the business').env('LOYALTY_API_KEY').makeOptionMandatory(),
  )
  .option('--customer <column>', "the customer's number: a column's name, or its number from 1", 'customer')
  .option('--date <column>', 'when it was bought', 'date')
  .option('--amount <column>', "what was paid, in the business's currency", 'amount')
  .option('--separator <character>', 'between columns; also: tab, whitespace', separator, ',')
  .option('--no-header', 'the first line is a purchase, too')
  .addOption(new Option('--date-format <format>').choices(['iso', 'yyyymmdd']).default('iso'))
  .option('--timezone <zone>', "IANA zone of the days (default: the business's own)")
  .option('--concurrency <requests>', 'requests under way at once', positive, 8)
  .parse()

const { url, key, timezone, concurrency, ...format } = program.opts<Arguments>()
const onProgress = (done: number, lines: number) => process.stderr.write(`\r${done} of ${lines}`)
try {
  const { summary, refused } = await importPurchases({
    url,
    key,
    file: program.processedArgs[0],
    format,
    timezone,
    concurrency,
    onProgress: process.stderr.isTTY ? onProgress : undefined,
  })
  if (process.stderr.isTTY) process.stderr.write('\n')
  for (const { line, reason } of refused) console.error(`line ${line}: ${reason}`)
  console.log(JSON.stringify(summary))
  if (refused.length > 0) process.exitCode = 1
} catch (error) {
  console.error(error instanceof OperatorError ? `error: ${error.message}` : error)
  process.exitCode = 1
}

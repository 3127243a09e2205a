import { type Setting, settings } from '../src/config.js'

/** The files that list the settings, as they should be; `read` gives a file as it is. */
export function describeSettings(read: (file: string) => string): { file: string; text: string }[] {
  return [
    { file: '.env.example', text: environmentExample() },
    { file: 'README.md', text: withTable(read('README.md')) },
  ]
}

const HEAD = `# All settings with their defaults; every one is optional. Copy this file to .env and change what you need.
# What stands in the environment already wins over .env.
`

const environmentExample = (): string =>
  `${HEAD}${settings.map(({ name, default: value, description }) => `\n# ${description}\n${name}=${value}\n`).join('')}`

const BEGIN = '<!-- settings: npm run settings:print -->'
const END = '<!-- /settings -->'

function withTable(readme: string): string {
  const begin = readme.indexOf(BEGIN)
  const end = readme.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`README.md has no table between ${BEGIN} and ${END}`)
  return `${readme.slice(0, begin + BEGIN.length)}\n${table()}\n${readme.slice(end)}`
}

const table = (): string =>
  ['| Variable | Default | Meaning |', '|---|---|---|', ...settings.map(row)].join('\n')

const row = ({ name, default: value, description }: Setting): string =>
  `| \`${name}\` | ${value === '' ? '' : `\`${value}\``} | ${description.replaceAll('|', '\\|')} |`

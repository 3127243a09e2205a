import test from 'ava'
import { command } from '../helpers/program.js'

const wrong: Record<string, string[]> = {
  'no command': [],
  'an unknown command': ['launch'],
  'half a command': ['business'],
  'an unknown option': ['business', 'list', '--all'],
  'a required option left out': ['business', 'create', '--name', 'x'],
  'an argument that nobody asked for': ['migrate', 'now'],
}

for (const [title, args] of Object.entries(wrong))
  test(`${title} is wrong usage: exit code 2, nothing on standard output`, async (t) => {
    const used = await command({}, ...args)
    t.is(used.exitCode, 2)
    t.is(used.out, '')
    t.not(used.err, '')
  })

test('with --json wrong usage is one object too', async (t) => {
  const used = await command({}, '--json', 'business', 'create', '--name', 'x')
  t.is(used.exitCode, 2)
  t.deepEqual(used.json, { error: { message: "required option '--email <address>' not specified" } })
})

test('--help and --version are answers, not failures', async (t) => {
  const help = await command({}, 'key', 'create', '--help')
  t.is(help.exitCode, 0)
  t.regex(help.out, /--scopes <list>/)
  t.regex((await command({}, '--version')).out, /^\d+\.\d+\.\d+\n$/)
})

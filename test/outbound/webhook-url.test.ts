import test from 'ava'
import { webhookUrlProblem } from '../../src/outbound/webhook-url.rules.js'

const NOT_HTTPS = 'must be an https URL'
const CREDENTIALS = 'must not contain credentials'
const NOT_PUBLIC = 'must lead to a public host'

const cases: Record<string, { problem: string | undefined; urls: string[] }> = {
  'an https address with a public name or number passes, on any port': {
    problem: undefined,
    urls: [
      'https://example.com',
      'https://example.com.',
      'HTTPS://Hooks.Example.COM/Path?a=b#c',
      'https://example.com:1/',
      'https://example.com:65535?x',
      'https://müller.example/ü',
      'https://my_host.example.com/',
      'https://localhost.example.com/',
      'https://internal.example.com/',
      'https://8.8.8.8/',
      'https://[2606:4700::1111]:8443/',
    ],
  },
  'an @ outside the authority is no credential': {
    problem: undefined,
    urls: ['https://example.com/@user', 'https://example.com?a@b', 'https://example.com#a@b'],
  },
  'anything but an https URL as it is written is refused': {
    problem: NOT_HTTPS,
    urls: [
      '',
      'example.com',
      'http://example.com',
      'ftp://example.com',
      'javascript:alert(1)',
      'https:example.com',
      'https:/example.com',
      'https:///example.com',
      'https://',
      'https://?x',
      'https://example.com:0x50/',
      'https://example.com:65536/',
      'https://256.1.1.1/',
      'https://[::1',
    ],
  },
  'what a parser would repair is refused': {
    problem: NOT_HTTPS,
    urls: [
      ' https://example.com',
      'https://example.com ',
      'https://example.com\n',
      'https://exam\tple.com',
      'https://example.com\\@10.0.0.1/',
      'https://example.com/a\\b',
      'https://example.com/\u0001',
    ],
  },
  'credentials are refused, empty ones too': {
    problem: CREDENTIALS,
    urls: [
      'https://user:password@example.com',
      'https://user@example.com',
      'https://@example.com',
      'https://:@example.com',
      'https://example.com@10.0.0.1/',
    ],
  },
  'names of one label, of a private network or with an empty label are refused': {
    problem: NOT_PUBLIC,
    urls: [
      'https://localhost',
      'https://LOCALHOST.:8443/',
      'https://localhost../',
      'https://api.localhost/',
      'https://printer/',
      'https://printer.local/',
      'https://printer.LOCAL./',
      'https://db.internal/',
      'https://metadata.google.internal/',
      'https://router.home.arpa/',
      'https://home.arpa/',
      'https://a..example.com/',
      'https://%6c%6fcalhost/',
      'https://ⓛocalhost/',
    ],
  },
  'IPv4 literals that are not public are refused however they are spelled': {
    problem: NOT_PUBLIC,
    urls: [
      'https://0.0.0.0/',
      'https://10.255.255.255/',
      'https://100.64.0.1/',
      'https://100.100.100.200/',
      'https://127.0.0.1/',
      'https://127.1/',
      'https://2130706433/',
      'https://0x7f000001/',
      'https://0177.0.0.1/',
      'https://127。0。0。1/',
      'https://127.0.0.1./',
      'https://168.63.129.16/',
      'https://169.254.169.254/latest/meta-data/',
      'https://172.16.0.1/',
      'https://172.31.255.255/',
      'https://192.0.0.192/',
      'https://192.168.0.1/',
      'https://198.19.0.1/',
      'https://224.0.0.1/',
      'https://255.255.255.255/',
    ],
  },
  'IPv6 literals outside the public block are refused': {
    problem: NOT_PUBLIC,
    urls: [
      'https://[::]/',
      'https://[::1]/',
      'https://[::127.0.0.1]/',
      'https://[::ffff:10.0.0.1]/',
      'https://[64:ff9b::a00:1]/',
      'https://[fc00::1]/',
      'https://[fd00:ec2::254]/',
      'https://[fe80::1]/',
      'https://[ff02::1]/',
    ],
  },
}

for (const [title, { problem, urls }] of Object.entries(cases))
  test(title, (t) => {
    for (const url of urls) t.is(webhookUrlProblem(url), problem, url)
  })

import type { TestFn } from 'ava'
import { startApp, type TestApp, type TestAppOptions } from './app.js'

/**
 * One app for all tests of a file that do not disturb each other, each with a business of its own: starting one is what
 * costs most. Further ones, in order, stand beside the first on its database. They are there when the tests run.
 */
export function sharedApps<const Options extends readonly TestAppOptions[]>(
  test: TestFn,
  ...options: Options
): () => { [Index in keyof Options]: TestApp } {
  const apps: TestApp[] = []
  const ends: (() => unknown)[] = []
  const owner = { teardown: (end: () => unknown) => ends.unshift(end) } as Parameters<typeof startApp>[0]
  test.before('the apps start', async () => {
    for (const each of options) {
      const [first] = apps
      apps.push(await startApp(owner, first ? { ...each, beside: first } : each))
    }
  })
  test.after.always('the apps end', async () => {
    for (const end of ends) await end()
  })
  return () => apps as { [Index in keyof Options]: TestApp }
}

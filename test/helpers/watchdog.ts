import { spawn } from 'node:child_process'
import { once } from 'node:events'

const CLEAR_UP = `
read -r _
cluster=$(cd "$1/postgres" && pwd -P)
if pid=$(head -n 1 "$cluster/data/postmaster.pid"); then
  if grep -aqF "$cluster" "/proc/$pid/cmdline" || ps -o args= -p "$pid" | grep -qF "$cluster"; then
    kill -QUIT "$pid"
    while kill -0 "$pid"; do sleep 0.05; done
  fi
fi
[ -n "$cluster" ] && rm -rf "$cluster"
rm -rf "$2"`

/**
 * Stops the embedded server of a data folder and removes `folder` around it: when the returned function is called,
 * and at the latest when this process ends, however it ends. That is seen by a child, outside the process group that
 * Ctrl-C reaches, as the end of its input.
 */
export function clearUpLater(dataDir: string, folder: string): () => Promise<void> {
  const child = spawn('/bin/sh', ['-c', CLEAR_UP, 'sh', dataDir, folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
    cwd: '/',
  })
  const exited = once(child, 'exit')
  // Neither keeps this process from ending.
  child.unref()
  ;(child.stdin as unknown as { unref(): void }).unref()
  return async () => {
    child.ref()
    child.stdin.end()
    await exited
  }
}

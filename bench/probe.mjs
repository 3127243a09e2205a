// Loaded into the measured processes beside their own code (`node --import`). Over the IPC channel it answers how
// much processor time the process has used so far (`cpu`) and how much memory at most (`memory`, in KB), and takes a
// profile between `profile` and `profiled`.
import { Session } from 'node:inspector/promises'

const session = new Session()
session.connect()

const answers = {
  cpu: async () => process.cpuUsage(),
  memory: async () => process.resourceUsage().maxRSS,
  profile: async () => {
    await session.post('Profiler.enable')
    await session.post('Profiler.start')
  },
  profiled: async () => (await session.post('Profiler.stop')).profile,
}

process.on('message', async (question) => {
  process.send({ question, answer: await answers[question]() })
})
// Listening must not keep a process alive that is told to end.
process.channel?.unref()

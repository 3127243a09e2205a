import { encode } from 'uqr'

/**
 * Codes as QR codes on A4, as a document of its own: nothing in it is loaded from anywhere, and codes have no
 * character that HTML would read. Each is 3 × 8 to a page, with room to cut.
 */
export const codeSheet = (codes: readonly string[]): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Codes</title>
<style>${STYLE}</style>
</head>
<body>
<ol>
${codes.map(label).join('\n')}
</ol>
</body>
</html>
`

const STYLE = `
@page { size: A4; margin: 10mm 8mm }
body { margin: 0; font: 9pt ui-monospace, monospace }
ol { display: grid; grid-template-columns: repeat(3, 1fr); margin: 0; padding: 0; list-style: none }
li { box-sizing: border-box; height: 34.5mm; padding: 2mm; border: 0.1mm dashed #999; text-align: center; break-inside: avoid }
svg { display: block; width: 24mm; height: 24mm; margin: 0 auto 1mm }
@media screen { ol { width: 194mm; margin: 10mm auto } }
`

/** White modules around the symbol, as ISO/IEC 18004 asks. */
const QUIET_ZONE = 4

function label(code: string): string {
  const { data, size } = encode(code, { ecc: 'M', border: QUIET_ZONE })
  return `<li><svg viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges"><path d="${outline(data)}"/></svg>${code}</li>`
}

/** The dark modules, one bar for each run of them. */
function outline(rows: readonly (readonly boolean[])[]): string {
  const bars: string[] = []
  for (const [y, row] of rows.entries())
    for (let x = 0; x < row.length; x++) {
      if (!row[x]) continue
      const start = x
      while (row[x + 1]) x++
      bars.push(`M${start} ${y}h${x + 1 - start}v1h-${x + 1 - start}z`)
    }
  return bars.join('')
}

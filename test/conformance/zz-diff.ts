import { openEmbeddedPlane } from '../planes/embedded.ts';
import { caseGroups } from './cases.ts';
import { readGolden, caseNamespace } from './golden-answers.ts';
import { differences } from './differences.ts';
import { playCase } from './play.ts';
const plane = await openEmbeddedPlane();
let n = 0,
  total = 0,
  bad = 0;
const only = process.argv.slice(2);
for (const [group, cases] of Object.entries(caseGroups)) {
  if (only.length && !only.includes(group)) continue;
  const golden = await readGolden(group);
  for (const [index, [name, run]] of Object.entries(cases).entries()) {
    total++;
    let actual: any;
    try {
      actual = await playCase(plane, caseNamespace(group, index), run);
    } catch (e: any) {
      console.log(`## ${group}: ${name}\n   BROKE ${e.message} ${e.cause?.stack}`);
      bad++;
      continue;
    }
    const found = differences(golden.cases[name] ?? [], actual);
    if (!found.length) continue;
    bad++;
    console.log(`## ${group}: ${name}`);
    for (const { at, golden: g, actual: a } of found) {
      n++;
      const i = Number(at.split(' ')[0]);
      const s = (v: any) => {
        const t = JSON.stringify(v);
        return t && t.length > 420 ? t.slice(0, 420) + '…' : t;
      };
      console.log(`   ${at}  [${actual[i]?.request}]\n      real ${s(g)}\n      emb  ${s(a)}`);
    }
  }
}
console.log(`${n} differences in ${bad} of ${total} cases`);
await plane.stop();

import type { Finding } from '../../machine/check.ts';
import { type Sentences, say } from '../say.ts';
import type { Text } from '../text.ts';

/** What was found where a demand is not met. */
const findings: Sentences<Finding> = {
  nothing: ({ cell }) => `in ${cell} steht nichts`,
  holds: ({ cell, value, wanted }) => `in ${cell} steht ${value}, nicht ${wanted}`,
  count: ({ count }) => `es sind ${count}`,
  'on-input': ({ input, found }) =>
    `mit ${input}: ${found ? say(found, findings) : 'das Programm bricht mit einem Fehler ab'}`,
};

export const bench: Text['bench'] = {
  machines: { matrix: 'Matrixmaschine', softmax: 'Softmaxmaschine' },
  dram: 'DRAM',
  registers: 'Register',
  compute: 'Rechenwerk',
  idle: 'wartet',
  empty: 'leer',
  nothingYet: 'Noch wurde nichts ausgeführt.',
  executed: (instruction, place, value) => `${instruction}. ${place} ist jetzt ${value}`,
  instructions: 'Befehle',
  instructionSet: 'Der Befehlssatz',
  instruction: 'Befehl',
  operation: 'Wirkung',
  exercise: 'Aufgabe',
  problem: n => `Aufgabe ${n}`,
  registerCount: n => `${n} Register`,
  program: title => `Programm: ${title}`,
  placeholder: 'Je Zeile ein Befehl:\nLOAD …',
  line: (line, what) => `Zeile ${line}: ${what}`,
  mustDo: 'Was eine Lösung leisten muss',
  met: 'erfüllt',
  notMet: 'noch nicht erfüllt',
  solved: cycles => `Gelöst in ${cycles} Takten.`,
  hint: n => `Hinweis ${n}`,
  fullTrace: 'Der ganze Ablauf einer Lösung',
  tryIt: 'Dieses Programm in den Editor übernehmen',
  replaces: 'Es ersetzt deines.',
  startOver: 'Von vorn beginnen',
  restore: 'Ersetztes Programm zurückholen',
  needsRegisters: n => `Sie braucht eine Maschine mit ${n} Registern.`,
  trace: 'Ablauf',
  solutionTrace: 'Ablauf der Lösung',
  step: 'Schritt',
  loads: 'Laden',
  computes: 'Rechnen',
  stores: 'Speichern',
  cycles: 'Takte',
  completion: {
    for: 'i = 1 TO n-1: wiederholt die Zeilen bis END',
    end: 'beendet ein FOR',
    wired: 'mit dem Multiplizierer verdrahtet',
    cell: 'DRAM',
    register: 'Register',
  },
  faults: {
    'unknown-instruction': ({ written, near, names }) =>
      `Den Befehl „${written}“ gibt es nicht; ${near ? `war ${near} gemeint?` : `diese Maschine hat ${names.join(', ')}`}`,
    'operand-count': ({ usage, wanted, got }) => `${usage} hat ${wanted} Operanden, hier sind es ${got}`,
    'swapped-operands': ({ usage, corrected }) =>
      `Die Operanden sind vertauscht: Schreibe ${corrected} (${usage})`,
    'cell-as-register': ({ instruction, written }) =>
      `${instruction} arbeitet mit Registern; lade „${written}“ zuerst mit LOAD in eines`,
    'unknown-register': ({ written, names }) =>
      `Ein Register „${written}“ gibt es nicht; diese Maschine hat ${names.join(', ')}`,
    'wired-register': ({ wanted, got, usage }) =>
      `Der Multiplizierer liest hier ${wanted}, nicht ${got}: ${usage}`,
    'no-cell': ({ written, example }) =>
      `Hier muss eine DRAM-Zelle wie ${example} stehen, nicht „${written}“`,
    'unknown-region': ({ written, names }) =>
      `„${written}“ gibt es nicht im DRAM; darin sind ${names.join(', ')}`,
    'index-count': ({ region, wanted, got }) => `„${region}“ hat ${wanted} Indizes, hier sind es ${got}`,
    'index-outside': ({ index, last }) => `Der Index ${index} liegt außerhalb von 0 bis ${last}`,
    'no-index': ({ written }) => `Hier muss ein Index wie 0, i oder n-1 stehen, nicht „${written}“`,
    'no-variable': ({ written }) => `„${written}“ ist hier keine Schleifenvariable`,
    'variable-taken': ({ written }) => `„${written}“ ist schon vergeben`,
    'no-loop': () => 'Eine Schleife lautet: FOR i = 1 TO n-1',
    'end-without-for': () => 'END ohne ein FOR davor',
    'for-without-end': () => 'FOR ohne ein END danach',
    'cell-outside': ({ cell }) => `${cell} liegt außerhalb des Feldes`,
    empty: ({ place }) => `${place} wird gelesen, bevor etwas darin steht`,
    'too-long': ({ most }) => `nach ${most} Befehlen abgebrochen`,
  },
  demands: {
    stored: ({ cell, value }) => `${cell} = ${value}`,
    cycles: ({ most }) => `höchstens ${most} Takte`,
    softmax: () => 'out = softmax(x)',
    reads: ({ most }) => `höchstens ${most} DRAM-Lesezugriffe`,
    hidden: ({ inputs }) =>
      `richtig auch für ${inputs} andere Eingaben: große Zahlen, andere Längen, steigende und fallende Maxima`,
    writes: ({ most }) => `höchstens ${most} DRAM-Schreibzugriffe`,
  },
  findings,
  problems: {
    'one-element': {
      title: 'Ein Element',
      task: 'Berechne c₀₀ = a₀₀b₀₀ + a₀₁b₁₀ und speichere es. Drei Register: Zwei speisen den Multiplizierer, eines hält die Summe.',
      hints: [
        'Das erste Produkt wird zu nichts addiert: `MAC_Z`. Das zweite kommt dazu: `MAC`.',
        'Die nächsten Operanden überschreiben `R0` und `R1`; die Summe muss also in `R2` warten.',
        'Viermal laden, zweimal multiplizieren, einmal speichern: sieben Takte.',
      ],
    },
    'inner-product': {
      title: 'Die ganze Matrix, Element für Element',
      task: 'Berechne alle vier Elemente. Viermal sieben sind 28 Takte, aber Nachbarn teilen sich Operanden: Es geht in 25.',
      hints: [
        'Ist ein Element fertig, stehen in `R0` und `R1` noch seine letzten Operanden. Welches Element könnte mit einem davon beginnen?',
        'In welcher Reihenfolge die beiden Produkte eines Elements kommen, bestimmst du: Beginne mit dem, was schon da ist.',
        'Geh c₀₀ → c₀₁ → c₁₁ → c₁₀: Jeder Schritt spart einmal Laden.',
      ],
    },
    'outer-product': {
      title: 'Mehr Register: das äußere Produkt',
      task: 'In sechs Register passen alle vier Summen zugleich. Lade je eine Spalte von A und eine Zeile von B: 22 Takte.',
      hints: [
        'Lade für k = 0 a₀₀, a₁₀, b₀₀ und b₀₁ und benutze jedes Paar: viermal `MAC_Z`, nach `R2` bis `R5`.',
        'Wechsle immer nur einen Operanden, im Kreis: c₀₀, c₀₁, c₁₁, c₁₀. Dann genügt je Schritt einmal Laden.',
        'Dann k = 1 mit `MAC` in dieselben vier Register, und am Ende viermal speichern.',
      ],
    },
    'safe-softmax': {
      title: 'Sicheres Softmax',
      task: 'Berechne Softmax und ziehe zuerst das Maximum ab. Drei Register, drei Durchgänge durch x: 3n lesen, n schreiben.',
      hints: [
        'Durchgang 1 hält das Maximum bisher in `r1` und braucht ein weiteres Register für die Zahl, die er gerade ansieht.',
        'Durchgang 2 summiert exp(x − m) in `r2`. Die Exponentialfunktion wird sofort benutzt und nie ins DRAM geschrieben.',
        'Durchgang 3 berechnet sie noch einmal: Sie zu speichern kostete n Schreib- und n Lesezugriffe mehr.',
      ],
    },
    'online-softmax': {
      title: 'Online-Softmax',
      task: 'Ein Register mehr: Finde Maximum und Summe im selben Durchgang. Zwei Durchgänge, 2n lesen, n schreiben.',
      hints: [
        'Kommt eine größere Zahl, war die Summe bisher am alten Maximum gemessen: Multipliziere sie mit exp(m − m′).',
        'Dafür braucht es das alte und das neue Maximum: Rette das alte vor `MAX` nach `r3`.',
        'Erst subtrahieren, dann `EXP`: exp(m) allein läuft über, exp(m − m′) ist höchstens 1.',
      ],
    },
  },
};

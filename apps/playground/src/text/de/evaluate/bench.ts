import type { Finding } from '../../../logic/machine/check.ts';
import { type Sentences, say } from '../../say.ts';
import type { Text } from '../../text.ts';

/** A number or a vector of the machine with decimal commas; these take the separator's place. */
const written = (value: string): string => value.replaceAll(', ', '; ').replace(/(\d)\.(\d)/g, '$1,$2');

/** What a program that does not meet a demand does wrong. */
const findings: Sentences<Finding> = {
  nothing: ({ cell }) => `in ${cell} steht nichts`,
  holds: ({ cell, value, wanted }) => `in ${cell} steht ${written(value)}, nicht ${written(wanted)}`,
  count: ({ count }) => `das Programm braucht ${count}`,
  'on-input': ({ input, found }) =>
    `mit ${written(input)}: ${found ? say(found, findings) : 'das Programm bricht mit einem Fehler ab'}`,
};

export const bench: Text['bench'] = {
  machines: { matrix: 'Matrix-Maschine', softmax: 'Softmax-Maschine', attention: 'Attention-Maschine' },
  dram: 'DRAM',
  registers: 'Register',
  compute: 'Rechnen',
  idle: 'wartet',
  empty: 'leer',
  written,
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
  placeholder: 'Ein Befehl pro Zeile:\nLOAD …',
  line: (line, what) => `Zeile ${line}: ${what}`,
  mustDo: 'Was eine Lösung leisten muss',
  met: 'erfüllt',
  notMet: 'noch nicht erfüllt',
  solved: cycles => `Gelöst in ${cycles} Takten.`,
  hint: (n, of) => `Hinweis ${n} von ${of} zeigen`,
  showSolution: 'Eine Lösung zeigen',
  fullTrace: 'Der ganze Ablauf dieses Programms',
  traffic: (reads, writes) => `DRAM-Lesezugriffe: ${reads}, Schreibzugriffe: ${writes}.`,
  bestKnown: (cycles, known) =>
    cycles < known
      ? `Das beste bekannte Programm braucht ${known} Takte: Du hast es geschlagen.`
      : cycles === known
        ? 'Ein kürzeres Programm ist nicht bekannt.'
        : `Das beste bekannte Programm braucht ${known} Takte. Kommst du näher heran?`,
  ownBest: cycles => `Dein bestes Programm braucht ${cycles}.`,
  vectors:
    'Ein Register hält eine Zahl oder einen kleinen Vektor. Befehle wirken komponentenweise, und eine Zahl wird mit jeder Komponente eines Vektors verknüpft. `DOT` multipliziert zwei Vektoren und summiert die Produkte. `FOR i = 0 TO n-1` … `END` wiederholt die Zeilen dazwischen und kostet keine Takte; `STEP 2` nimmt jedes zweite i.',
  sizes: {
    stream: 'Keys (n)',
    merge: 'Kacheln (n)',
    queries: 'Queries und Keys (n)',
    keys: 'Queries und Keys (n)',
    row: 'Keys (n)',
    column: 'Queries (n)',
  },
  tryIt: 'Dieses Programm in den Editor übernehmen',
  replaces: 'Es ersetzt dein Programm.',
  startOver: 'Von vorn',
  restore: 'Ersetztes Programm zurückholen',
  needsRegisters: n => `Das Programm braucht eine Maschine mit ${n} Registern.`,
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
    'no-comma': ({ usage }) => `Zwischen Operanden steht ein Komma: ${usage}`,
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
    'index-count': ({ region, wanted, got }) =>
      `„${region}“ hat ${wanted} ${wanted === 1 ? 'Index' : 'Indizes'}, hier ${got === 1 ? 'ist' : 'sind'} es ${got}`,
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
    reads: ({ most }) => `höchstens ${most} ${most === 1 ? 'DRAM-Lesezugriff' : 'DRAM-Lesezugriffe'}`,
    'reads-of': ({ arrays, most }) => `davon höchstens ${most} auf ${arrays}`,
    computes: ({ formula }) => formula,
    hidden: ({ inputs }) =>
      `richtig auch für ${inputs} andere Eingaben: große Zahlen, andere Längen, steigende und fallende Maxima`,
    writes: ({ most }) => `höchstens ${most} ${most === 1 ? 'DRAM-Schreibzugriff' : 'DRAM-Schreibzugriffe'}`,
  },
  findings,
  problems: {
    'one-element': {
      title: 'Ein Element',
      task: 'Berechne c₀₀ = a₀₀b₀₀ + a₀₁b₁₀ und speichere es. Drei Register: Zwei speisen den Multiplizierer, eines hält die Summe.',
      hints: [
        'Das erste Produkt wird zu nichts addiert: `MAC_Z`. Das zweite wird zum ersten addiert: `MAC`.',
        'Die nächsten Operanden überschreiben `R0` und `R1`; die Summe muss also in `R2` warten.',
        'Viermal laden, zweimal multiplizieren und einmal speichern ergibt sieben Takte.',
      ],
    },
    'inner-product': {
      title: 'Die ganze Matrix, Element für Element',
      task: 'Berechne alle vier Elemente. Viermal sieben sind 28 Takte, aber Nachbarn teilen sich Operanden: Es geht in 25.',
      hints: [
        'Ist ein Element fertig, stehen in `R0` und `R1` noch seine letzten Operanden. Welches Element könnte mit einem davon beginnen?',
        'In welcher Reihenfolge die beiden Produkte eines Elements kommen, bestimmst du: Beginne mit dem, was schon da ist.',
        'Geh c₀₀ → c₀₁ → c₁₁ → c₁₀: Jeder Schritt spart ein LOAD.',
      ],
    },
    'outer-product': {
      title: 'Mehr Register: das äußere Produkt',
      task: 'In sechs Register passt mehr als eine Summe. Berechne alle vier Elemente in 22 Takten.',
      hints: [
        'Halte alle vier Summen zugleich, in `R2` bis `R5`. Eine Spalte von A und eine Zeile von B geben dann für jede ein Produkt: das äußere Produkt.',
        'Wechsle immer nur einen Operanden, im Kreis: c₀₀, c₀₁, c₁₁, c₁₀. Dann genügt ein LOAD pro Schritt.',
        'Dann k = 1 mit `MAC` in dieselben vier Register, und am Ende viermal speichern.',
      ],
    },
    'safe-softmax': {
      title: 'Sicherer Softmax',
      task: 'Berechne den Softmax so, dass bei keiner Eingabe eine Zahl überläuft: höchstens 3n Lese- und n Schreibzugriffe.',
      hints: [
        'exp(x − m) läuft nie über, wenn m das Maximum ist, und m kürzt sich heraus. Finde also zuerst das Maximum, in einem eigenen Durchgang: `r1` hält das bisherige Maximum.',
        'Durchgang 2 summiert exp(x − m) in `r2`. Der Wert wird sofort verwendet und nie ins DRAM geschrieben.',
        'Durchgang 3 berechnet jeden dieser Werte noch einmal: Sie zu speichern, würde n Schreib- und n Lesezugriffe mehr kosten.',
      ],
    },
    stream: {
      title: 'Attention in einem Durchgang',
      task: 'Die Scores `x` und die Value-Vektoren `v` einer Query stehen im DRAM. Schreibe softmax(x)·v nach `o[0]` und lies jeden Score und jeden Vektor nur einmal.',
      hints: [
        'Merk dir drei Dinge: das bisherige Maximum, den Nenner und den Zähler, der ein Vektor ist. Was macht ein neues Maximum mit den beiden anderen?',
        'Der Faktor exp(m − m′) ist eine Zahl. Er multipliziert den Nenner und jede Komponente des Zählers.',
        'Eine 1 ohne Konstante: ein Register von sich selbst abziehen, dann `EXP`. Geteilt wird einmal, ganz am Ende.',
      ],
    },
    merge: {
      title: 'Zustände von Kacheln verschmelzen',
      task: 'Jede von n Kacheln hat ihren Zustand im DRAM gelassen: das Maximum `m`, den Nenner `d`, den Zähler `num`. Verschmilz alle Zustände und schreibe die Ausgabe nach `o[0]`.',
      hints: [
        'Eine Kachel ist hier, was im einzelnen Durchgang ein Key war; nur kann jetzt das Maximum jeder der beiden Seiten das kleinere sein.',
        'Beide Seiten bekommen einen Faktor: exp(m₁ − m′) und exp(m₂ − m′). Einer von beiden ist 1.',
        'Mit fünf Registern: drei für den laufenden Zustand, eines für das neue Maximum, eines zum Laden. Das Register des alten Maximums kann dessen Faktor halten.',
      ],
    },
    'queries-outside': {
      title: 'Die Kachelschleife, Queries außen',
      task: 'Jetzt werden die Scores berechnet: q·k. Geh für jede Query durch alle Keys und schreibe `o`. K und V werden einmal pro Query gelesen: n + 2n² Lesezugriffe, n Schreibzugriffe.',
      hints: [
        'Um den einen Durchgang herum kommt noch eine Schleife. Was wird pro Query einmal geladen, und was bleibt in Registern, bis die Query fertig ist?',
        '`DOT` macht aus q und k den Score. Kein Score wird je ins DRAM geschrieben.',
        'Der Zustand beginnt für jede Query neu: Beginne mit Key 0, dann FOR j = 1 TO n-1.',
      ],
    },
    'keys-outside': {
      title: 'Die Kachelschleife, Keys außen',
      task: 'Vertausche die Schleifen: Lade jeden Key und jeden Value einmal und bring beide zu jeder Query. Was nicht in Register passt, wartet im DRAM, in `m`, `d` und `num`: höchstens 2n Lesezugriffe auf K und V.',
      hints: [
        'Der Zustand einer Query wird geladen, bevor ihr Key kommt, und danach gespeichert. Zähl nach, was das kostet.',
        'Für Key 0 gibt es noch keinen Zustand zu laden: Eine eigene Schleife speichert m = q·k, d = 1 und num = v.',
        'Die Division wartet, bis der letzte Key vorbei ist: Eine dritte Schleife liest num und d und schreibt o.',
      ],
    },
    'two-queries': {
      title: 'Zwei Queries auf einmal',
      task: 'Zwischen den beiden Reihenfolgen liegt ein ganzer Bereich: Halte die Zustände von *zwei* Queries in Registern, und jeder Key dient beiden. n ist gerade. Das halbiert die Lesezugriffe auf K und V: n + n² insgesamt.',
      hints: [
        '`FOR i = 0 TO n-2 STEP 2` geht in Paaren; die zweite Query eines Paares ist `q[i+1]`.',
        'Lade einen Key und seinen Value einmal und verwende sie für beide Queries, bevor der nächste Key kommt.',
        'Jede Query hat vier eigene Register: q, m, d und num. Vier Register bleiben für das, was durchläuft.',
      ],
    },
    'backward-row': {
      title: 'Rückwärts, eine Zeile von dQ',
      task: 'Eine Query, mit ihrer Ausgabe `o`, dem Gradienten `dO` und ihrem `lse` aus dem Vorwärtsdurchlauf. Berechne dQ = Σ dS·k mit dS = P·(dP − D) und lies K und V nur einmal.',
      hints: [
        'P kommt aus einer Zahl zurück: exp(q·k − lse). Auch dP ist ein Skalarprodukt: dO·v.',
        'Das D der Zeile wird schon für das erste dS gebraucht. Es ist Σ P·dP, was einen ganzen Durchgang kostet, oder dO·o, was keinen kostet.',
        'Eine Summe beginnt bei null: einen Vektor von sich selbst abziehen.',
      ],
    },
    'backward-column': {
      title: 'Rückwärts, eine Spalte: dK und dV',
      task: 'Jetzt ein Key und sein Value, und alle Queries ziehen mit ihrem `dO`, `lse` und `D` vorbei. Berechne dK = Σ dS·q und dV = Σ P·dO mit 4n + 2 Lesezugriffen.',
      hints: [
        'Der Softmax war Sache der Zeilen, aber `lse` und `D` enthalten alles, was eine Spalte von jeder Zeile wissen muss.',
        'Berechne P einmal und verwende es zweimal: für dV und für dS.',
        'Zwei Summen bleiben in Registern, bis die letzte Query vorbei ist; dann werden beide gespeichert.',
      ],
    },
    'online-softmax': {
      title: 'Online-Softmax',
      task: 'Ein Register mehr, ein Durchgang weniger: höchstens 2n Lese- und n Schreibzugriffe.',
      hints: [
        'Finde Maximum und Summe im selben Durchgang. Kommt eine größere Zahl, war die bisherige Summe auf das alte Maximum bezogen: Welcher Faktor korrigiert das?',
        'Der Faktor ist exp(m − m′), also brauchst du das alte und das neue Maximum: Sichere das alte vor `MAX` in `r3`.',
        'Erst subtrahieren, dann `EXP`: exp(m) allein läuft über, exp(m − m′) ist höchstens 1.',
      ],
    },
  },
};

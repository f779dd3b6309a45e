import type { Text } from './languages.ts';

/** Die Seite auf Deutsch. */
export const de: Text = {
  site: {
    title: 'Tilewise: Flash-Attention, auseinandergenommen',
    heading: 'Flash-Attention, auseinandergenommen',
    blurb:
      'Programmiere eine Maschine mit drei Registern und komm in kleinen Schritten bei den Kernels an, die auf deiner eigenen GPU laufen: vorwärts, rückwärts, mit Dropout und allem.',
    skip: 'Zum Inhalt springen',
    chapters: 'Kapitel',
    chapter: n => `Kapitel ${n}`,
    next: 'Weiter',
    nextChapter: 'Nächstes Kapitel',
    loading: title => `${title} wird geladen …`,
    language: 'Sprache',
    theme: { light: 'Helles Farbschema benutzen', dark: 'Dunkles Farbschema benutzen' },
    failed: 'Dieses Kapitel ließ sich nicht laden. Ist das Netz da?',
    again: 'Noch einmal versuchen',
  },

  chapters: {
    machine: {
      title: 'Die Maschine',
      blurb: 'Zwei Matrizen mit drei Registern multiplizieren, ein Befehl nach dem anderen.',
    },
    softmax: {
      title: 'Softmax',
      blurb: 'Ein Register mehr erspart einen ganzen Durchgang durch den Speicher.',
    },
    attention: {
      title: 'Von Softmax zu Attention',
      blurb: 'Ein laufendes Maximum, ein Nenner, ein Zähler; die große Matrix gibt es nie.',
    },
    loops: {
      title: 'Schleifenfolge',
      blurb: 'Welche Schleife außen liegt, entscheidet, was reist: FlashAttention-1 gegen -2.',
    },
    backward: {
      title: 'Rückwärts',
      blurb: 'Gradienten ohne die großen Matrizen: Eine Zahl je Zeile bringt alles zurück.',
    },
    dropout: {
      title: 'Dropout',
      blurb: 'Zufallsbits, die zweimal berechnet statt einmal gespeichert werden.',
    },
    lab: {
      title: 'Attention-Labor',
      blurb: 'Was Masken mit Scores, Wahrscheinlichkeiten und Gradienten machen.',
    },
  },

  player: {
    playback: 'Wiedergabe',
    rewind: 'Zum Anfang',
    play: 'Abspielen',
    pause: 'Anhalten',
    end: 'Zum Ende',
    back: {
      step: 'Einen Schritt zurück',
      instruction: 'Einen Befehl zurück',
      tile: 'Eine Kachel zurück',
      row: 'Eine Zeile zurück',
      column: 'Eine Spalte zurück',
    },
    next: {
      step: 'Nächster Schritt',
      instruction: 'Nächster Befehl',
      tile: 'Nächste Kachel',
      row: 'Nächste Zeile',
      column: 'Nächste Spalte',
    },
  },

  bench: {
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
      writes: ({ most }) => `höchstens ${most} DRAM-Schreibzugriffe`,
    },
    findings: {
      nothing: ({ cell }) => `in ${cell} steht nichts`,
      holds: ({ cell, value, wanted }) => `in ${cell} steht ${value}, nicht ${wanted}`,
      count: ({ count }) => `es sind ${count}`,
    },
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
  },

  machine: {
    intro:
      'Der Speicher ist groß und fern, die Register sind wenige und nah. Diese Maschine hat beides, und einen Multiplizierer, der seine zwei Operanden nur aus `R0` und `R1` liest. Jeder Befehl dauert einen Takt. Was hier schnell ist, ist auch auf einer GPU schnell: eine Zahl wiederverwenden, solange sie nah ist.',
    wiring: 'Der Multiplizierer liest',
    wirings: { fixed: 'R0 und R1', any: 'jedes Register' },
    registers: 'Register',
    noProgramForOne: 'Vier Operanden, zwei Produkte, ein Ergebnis: Kein Programm braucht weniger.',
    optimum: registers => `Kein Programm für diese Maschine mit ${registers} Registern braucht weniger.`,
    fewer: (registers, fewest) => `Mit ${registers} Registern geht es in ${fewest}.`,
    canItBeFewer: 'Geht es in weniger Takten?',
    fewest: [
      'Wie viele Takte alle vier Elemente mindestens brauchen, ist bekannt: Alle Programme wurden ausprobiert. Mehr Register halten mehr Teilsummen nah, sodass jede geladene Zahl mehr ihrer Partner trifft, bevor sie ersetzt wird.',
      'Wenn jedes Register den Multiplizierer speisen darf, können auch Operanden warten. Dann genügen sechs Register, um jede der acht Zahlen nur einmal zu laden: achtmal laden, acht Produkte, viermal speichern, und nichts davon lässt sich weglassen.',
    ],
    fewestCaption: 'Wenigste Takte für das ganze Produkt',
    styles: 'Inneres gegen äußeres Produkt',
    innerProduct: 'Inneres Produkt',
    outerProduct: 'Äußeres Produkt',
    cyclesInAll: 'Takte für ganz C',
    stylesWhy:
      'Das innere Produkt beendet eine Summe, bevor es die nächste beginnt. Das äußere hält alle Summen offen und lässt jede geladene Zahl ihre beiden Partner treffen. Dieselbe Wahl kehrt in Kapitel 4 wieder, mit Kacheln statt Zahlen.',
    quiz: 'Quiz: das innere Produkt mit sechs Registern',
    quizAnswer: [
      'Solange nur `R0` und `R1` den Multiplizierer speisen, halten drei weitere Register nichts als Summen, und ein inneres Produkt hat immer nur eine: Es bleibt bei 25 Takten.',
      'Darf jedes Register ihn speisen, halten die neuen Register Operanden. Behalte Zeile 0 von A, während c₀₀ und c₀₁ entstehen; dann sind beide Spalten von B da und bleiben für c₁₁ und c₁₀. Jede Zahl wird einmal geladen: achtmal laden, 20 Takte. Probier es aus: Stell oben die Verdrahtung um.',
    ],
    whyThree: 'Warum mindestens drei Register?',
    whyThreeAnswer:
      'Zwei speisen den Multiplizierer, und das nächste Paar überschreibt sie. Die Summe bisher braucht ein drittes. Auf neueren GPUs (NVIDIA Blackwell) hält die Matrixeinheit diesen Akkumulator in einem eigenen Speicher; das macht Register für Operanden frei.',
  },
};

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
    graph: {
      title: 'Der Graph',
      blurb:
        'Attention als ein Dutzend Operationen, und als der eine Kernel, den ein Compiler daraus machen kann.',
    },
    lab: {
      title: 'Attention-Labor',
      blurb: 'Was Masken mit Scores, Wahrscheinlichkeiten und Gradienten machen.',
    },
    train: {
      title: 'Trainieren',
      blurb: 'Ein kleiner Transformer lernt vor deinen Augen, und mit ihm seine Attention.',
    },
    bench: {
      title: 'Messen',
      blurb: 'Die Kernel auf der eigenen Maschine, neben Attention, die ihre Scores speichert.',
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
      visit: 'Eine Begegnung zurück',
    },
    next: {
      step: 'Nächster Schritt',
      instruction: 'Nächster Befehl',
      tile: 'Nächste Kachel',
      row: 'Nächste Zeile',
      column: 'Nächste Spalte',
      visit: 'Nächste Begegnung',
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

  softmax: {
    intro:
      'Softmax macht aus Scores Gewichte, deren Summe eins ist. $e^x$ läuft in 32-Bit-Zahlen ab $x \\approx 88.7$ über, also wird zuerst das Maximum abgezogen. Aber das Maximum ist erst bekannt, wenn alles gelesen ist …',
    loop: '`FOR i = 1 TO n-1` … `END` wiederholt die Zeilen dazwischen; das kostet nichts und zeigt, wie ein Programm mit n wächst.',
    numbers: 'Zahlen (n)',
    shift: 'Zu jeder Zahl addiert',
    verdict: (n, reads, writes) => `Für n = ${n}: ${reads} DRAM-Lese- und ${writes} Schreibzugriffe.`,
    paths: 'Zwei Wege zur selben Summe',
    pathsWhy: [
      'Die zweite Spalte kennt das Maximum aller Zahlen im Voraus; die letzte hat nur das Maximum bisher und korrigiert, was sie summiert hat, wenn es steigt. Unterwegs unterscheiden sie sich, am Ende treffen sie sich.',
    ],
    factor: 'Der Faktor, der korrigiert',
    factors: { difference: 'exp(m − m′)', quotient: 'exp(m) / exp(m′)' },
    meet: (global, running) => `Beide enden in derselben Summe: ${global} und ${running}.`,
    overflowed: 'exp(m) ist mehr, als eine 32-Bit-Zahl fasst: ∞ / ∞ ist keine Zahl.',
    overflowWhy:
      "Der Faktor $e^{m-m'}$ ist höchstens 1. Als $e^{m} / e^{m'}$ geschrieben ist er auf dem Papier derselbe, aber $e^{100}$ ist mehr, als eine 32-Bit-Zahl fasst. Stell den Faktor um, addiere 100 zu jeder Zahl und sieh zu.",
    showOverflow: 'Auf der Maschine überlaufen lassen',
    counts: 'Was ein Register erspart',
    countsWhy:
      'Gezählt, indem beide Programme laufen. Das Online-Programm rechnet je Zahl mehr und liest einmal weniger: Langsam ist der Speicher.',
    countsChart: reads =>
      `DRAM-Lesezugriffe gegen n: ${reads.join(' für sicheres Softmax, ')} für Online-Softmax`,
    passes: 'Durchgänge durch x',
    reads: 'DRAM gelesen',
    writes: 'DRAM geschrieben',
    operations: 'Rechenschritte',
    elsewhere: 'Aufgabe 6: Wo wird noch ein laufender Wert korrigiert?',
    elsewhereIntro:
      'Aus einer Abhängigkeit von etwas Globalem, dem Maximum, wurde ein laufender Zustand, der sich selbst korrigiert. So macht man es auch anderswo:',
    examples: [
      '*Cauchy-Folgen*: Glieder, die einander nahe kommen, sagen, dass es einen Grenzwert gibt; kennen muss ihn niemand.',
      '*Partielle Summation* (Abel): Aus Gliedern werden Differenzen, und das Angesammelte wird zur Hauptsache.',
      '*Kahan-Summation*: Eine zweite Zahl verfolgt den Rundungsfehler und korrigiert die Summe im Lauf.',
      '*Welfords Varianz*: Mit jeder Zahl wandert der Mittelwert, und die Quadratsumme wird dafür korrigiert.',
    ],
    welfordQuiz: 'Quiz: die Varianz in einem einzigen Durchgang',
    welfordAnswer: [
      'Die Varianz braucht den Mittelwert aller Zahlen, so wie Softmax ihr Maximum braucht. Welcher Zustand wird gehalten, und wie wird er korrigiert, wenn eine Zahl kommt?',
      'Gehalten werden die Anzahl, der Mittelwert bisher und die Summe $M_2$ der quadrierten Abstände von ihm. Eine neue Zahl verschiebt den Mittelwert; die Summe wird um ein Produkt zweier Abstände korrigiert, vom alten und vom neuen Mittelwert. Hier mit den Zahlen von oben:',
    ],
    welford: 'Welfords Algorithmus',
    nothingNew: 'Nichts Neues unter der Sonne?',
    nothingNewAnswer: [
      'Ein laufender Zustand, der korrigiert wird, wenn sein Bezugspunkt wandert: Die Idee kommt aus der Statistik, die Sorge um den Überlauf aus der Numerik, der einzige Durchgang aus der Algorithmik und der Grund für die Mühe aus der Rechnerarchitektur. Jedes Fach hat ein Stück davon, und wenige Vorlesungen setzen sie zusammen.',
    ],
  },

  attention: {
    intro:
      'Attention braucht die Softmaxgewichte nur, um Wertvektoren zu mitteln. Also müssen sie nicht bleiben: Jedes entsteht, geht in einen laufenden Zähler ein und wird vergessen.',
    threeThings:
      "Drei Dinge bleiben je Query: das Maximum $m$ bisher, der Nenner $d$ und der Zähler, ein Vektor. Steigt das Maximum mit einem neuen Key, werden beide Summen mit $e^{m-m'}$ multipliziert. Geteilt wird zuletzt: ein Durchgang.",
    stream: 'Eine Query, alle ihre Keys',
    streamWhy:
      'Geh durch zwölf Keys, einzeln oder kachelweise. Steigt das Maximum, schrumpft das Gewicht von allem, was vorher kam, um denselben Faktor.',
    keysPerTile: 'Keys je Kachel',
    position: 'Stelle',
    scores: 'Scores',
    weights: 'Gewichte',
    values: 'Werte',
    figure: (keys, seen, m) =>
      `Scores, Gewichte und Wertvektoren von ${keys} Keys; ${seen} sind gesehen, ihr Maximum ist ${m ?? 'noch nicht bekannt'}`,
    maximum: 'Maximum m',
    factorOfKept: 'Faktor für das Bisherige',
    denominator: 'Nenner d',
    numerator: 'Zähler',
    output: 'o = Zähler / d',
    numbersKept: 'Behaltene Zahlen',
    kept: (here, naive) => `${here}; auf naive Art ${naive}`,
    allSeen:
      'Alle Keys sind gesehen: o ist das Ergebnis der Attention. Es ist für jede Kachelgröße dasselbe.',
    rightSoFar: 'In jedem Augenblick ist o richtig für die Keys, die gesehen sind.',
    problem7: 'Aufgabe 7: Leite die Regeln her',
    problem7Task: [
      'Das Ergebnis ist ein Quotient zweier Summen mit denselben Exponentialgewichten: oben ein Vektor, unten eine Zahl. Benutze das laufende Maximum aus Kapitel 2: Was ist der Zustand, und wie ändert er sich, wenn ein Key mit Score $x_k$ und Wertvektor $\\mathbf{v}_k$ kommt?',
    ],
    problem7Hint: 'Hinweis',
    problem7HintAnswer:
      'Der Faktor $e^{m_k - m_{k+1}}$ ist eine Zahl: Er multipliziert jede Komponente des Zählers. Der Nenner ändert sich wie bei Online-Softmax.',
    problem7Rules: 'Die Regeln',
    problem7State:
      'Der Zustand sind zwei Zahlen und ein Vektor der Größe $d_v$ je Query, statt einer Zeile aus $n$ Gewichten.',
    onePass: 'Warum Softmax allein zwei Durchgänge braucht und Attention einen',
    onePassAnswer: [
      'Softmax muss jedes Gewicht ausgeben, und jedes braucht das endgültige Maximum und die Summe: Also wird x noch einmal gelesen. Attention gibt ein gewichtetes Mittel aus, und das hält der laufende Zähler schon. Jedes Gewicht entsteht, wird benutzt und vergessen.',
    ],
    merge: 'Jedes Element kann eine Kachel sein',
    mergeWhy:
      'Zwei Zustände verschmelzen nach derselben Regel, ob jeder für einen Key steht oder für tausend. Die Verschmelzung ist assoziativ; Kacheln lassen sich also irgendwo berechnen, in beliebiger Folge, und später zusammensetzen.',
    keys: (first, last) => `Keys ${first} bis ${last}`,
    oneLeft: 'Ein Zustand ist übrig.',
    chooseTile: 'Wähle eine Kachel, dann die, mit der sie verschmelzen soll.',
    withWhich: 'Mit welcher?',
    merged: (merged, whole) => `num / d = ${merged}, und auf einmal berechnet ${whole}.`,
    startAgain: 'Von vorn',
    memory: 'P gibt es nie',
    naive: 'Scores und Wahrscheinlichkeiten, je n × n',
    streaming: 'Eine Kachel Scores und ihr laufender Zustand',
    queriesAndKeys: 'Queries und Keys',
    timesLess: times => `Auf naive Art bleibt das ${times}-Fache.`,
    memoryNote: (headSize, tile) =>
      `Logarithmische Balken; ein Kopf in 32-Bit-Zahlen, Kopfgröße ${headSize}, Kacheln von ${tile} × ${tile}. Die Eingaben zählen nicht.`,
    elimination: 'Das allgemeine Muster: Was sofort verbraucht wird, muss es nicht geben',
    eliminationAnswer: [
      'P ist groß, entsteht in einer Operation und wird in der nächsten verbraucht, in einer Summe. Wo immer das so ist, lassen sich beide verschmelzen: ein Element machen, benutzen, vergessen.',
      'Compiler kennen es als *Schleifenfusion*, funktionale Sprachen als *Deforestation*, GPU-Programmierer als *Kernel-Fusion*. Die Bedingung ist immer dieselbe: Das Zwischenergebnis kommt nur in einer Kontraktion vor.',
    ],
    onGpu: 'Von der Spielzeugmaschine zur GPU',
    onGpuAnswer:
      'Mit Kacheln statt Zahlen *ist* die Spielzeugmaschine der Algorithmus, nur in anderer Körnung. Geschnitten wird entlang der Keys: Kacheln von K und V strömen an einer Kachel Queries vorbei, die bleibt.',
    toy: 'Spielzeugmaschine',
    correspondence: [
      ['Register', 'Shared Memory und Register'],
      ['DRAM', 'Gerätespeicher (HBM, GDDR)'],
      ['LOAD, STORE', 'Transport zwischen beiden'],
      ['Multiplizierer', 'Matrixeinheit (Tensor Core)'],
    ],
  },

  loops: {
    intro:
      'Jede Kachel Queries muss jede Kachel Keys treffen. Im schnellen Speicher liegt je eine, also wird etwas immer wieder geladen: Liegen die Queries außen, sind es K und V; liegen die Keys außen, sind es Q und die unfertigen Ergebnisse, die auch zurückgeschrieben werden müssen.',
    side: 'Zwei Reihenfolgen nebeneinander',
    sideWhy:
      'Das Gitter ist die n × n-Matrix der Paare; darum liegen die Kacheln im langsamen Speicher. Blau wird geladen, Orange gespeichert, Violett bleibt im schnellen Speicher.',
    tiles: 'Kacheln (n)',
    slots: 'Ergebnisplätze im schnellen Speicher',
    orders: {
      'inner-product': 'Queries außen: inneres Produkt, FlashAttention-2',
      'outer-product': 'Keys außen: äußeres Produkt, FlashAttention-1',
    },
    grid: (met, all, now) =>
      `${met} von ${all} Kachelpaaren sind sich begegnet${now ? `; jetzt trifft Querykachel ${now.i} Keykachel ${now.j}` : ''}`,
    moved: 'Bewegte Kacheln',
    soFar: 'bisher',
    inAll: 'gesamt',
    together: 'Zusammen',
    traffic: { loadsQ: 'Q laden', loadsKv: 'K, V laden', loadsO: 'O laden', storesO: 'O speichern' },
    outputStays: 'Ein Ergebnis bleibt nah, bis seine Zeile fertig ist: einmal geladen, einmal gespeichert.',
    everyVisit: 'Jede Begegnung lädt ein unfertiges Ergebnis und speichert es wieder.',
    someStay: (slots, n) =>
      `${slots} von ${n} Ergebnissen bleiben nah; jedes spart ${n - 1}-mal Laden und ${n - 1}-mal Speichern.`,
    whyNotAll: 'Warum nicht alle Ergebnisse behalten?',
    whyNotAllAnswer: [
      'Der schnelle Speicher ist geteilt: Wo Ergebnisse liegen, liegen keine Keys. Bleiben alle n, wird so oft gespeichert wie in der anderen Reihenfolge, und der schnelle Speicher wächst mit der Sequenz. Es ist die Wahl zwischen drei und sechs Registern aus Kapitel 1, nur in vielen Stufen.',
    ],
    whyTwo: 'Wer tut was zur selben Zeit?',
    whyTwoAnswer: [
      'Eine GPU bearbeitet viele Kacheln zugleich. Liegen die Queries außen, hat jede Arbeitsgruppe ihre eigene Querykachel und wartet auf niemanden: Deshalb wählen FlashAttention-2 und diese Bibliothek diese Reihenfolge. Liegen die Keys außen, müssten Gruppen mit verschiedenen Keys zu denselben Ergebnissen addieren.',
    ],
    roofline: 'Rechnen je Byte',
    rooflineWhy:
      'Ein Gerät rechnet nur dann so schnell, wie es kann, wenn jedes geladene Byte oft genug benutzt wird. Unter der Schräge begrenzt der Speicher, unter dem flachen Dach das Rechnen.',
    flopPerByte: 'FLOP je Byte',
    limitedBy: 'Begrenzt durch',
    limits: { memory: 'Speicher', arithmetic: 'Rechnen' },
    schedules: {
      naive: 'S und P gespeichert',
      'outer-product': 'Keys außen',
      'inner-product': 'Queries außen',
    },
    rooflineChart: points => `Roofline. ${points.join('; ')}`,
    laptop: 'Ein Laptop, ungefähr',
    arithmetic: 'Rechnen, TFLOP/s',
    memory: 'Speicher, GB/s',
    rowsPerTile: 'Zeilen je Kachel',
    rooflineNote: (sequence, headSize) =>
      `${sequence} Queries und Keys, Kopfgröße ${headSize}, 16-Bit-Zahlen; ohne Caches. Größere Kacheln benutzen jedes geladene Byte öfter.`,
    intensityQuiz: 'Quiz: Welche arithmetische Intensität hat jede Reihenfolge?',
    intensityAnswer: [
      'Zähle eine Begegnung einer Kachel von $T$ Queries mit einer von $T$ Keys: zwei Matrixprodukte aus je $2T^2d$ Rechenschritten. Bewegt werden K und V, wenn die Queries außen liegen; Q, O und noch einmal O, wenn die Keys außen liegen. Mit $b$ Byte je Zahl:',
    ],
  },

  backward: {
    intro: [
      'Vorwärts wurde P weggeworfen. Rückwärts wird es wieder gebraucht, und zwei weitere, ebenso große Matrizen: dP und dS. Auch von ihnen wird keine gespeichert. Eine Zahl je Zeile, $\\mathrm{lse} = m + \\ln d$, holt jedes Gewicht bei Bedarf zurück: $P_{ij} = e^{S_{ij} - \\mathrm{lse}_i}$.',
      'Etwas noch einmal zu berechnen, statt es zu behalten, heißt *Activation Checkpointing*. Hier ist es billig: Maxima und Nenner sind vom ersten Mal bekannt.',
    ],
    ingredient: 'Quiz: Was erlaubt es vorwärts, P nicht zu speichern? Online-Softmax ist es nicht.',
    ingredientAnswer: [
      'Online-Softmax kümmert sich um den Nenner. Was die Matrix selbst überflüssig macht, ist die *Kontraktion*: P kommt nur in der Summe $\\sum_j P_{ij} \\mathbf{v}_j$ vor, also kann jedes Element entstehen, benutzt und vergessen werden. Rückwärts muss man dasselbe Muster für dP und dS finden, obwohl ein Softmax dazwischen liegt.',
    ],
    derivation: 'Die Herleitung',
    inIndices: 'In Indizes',
    stepBack: 'Einen Schritt zurück',
    nextStep: 'Nächster Schritt',
    steps: {
      forward: {
        title: 'Vorwärts, vom Ende her aufzulösen',
        why: 'Gegeben ist dO, der Gradient des Verlusts nach O. Jeder Schritt geht durch eine dieser Gleichungen zurück. Alle d… sind Gradienten des Verlusts: dX hat die Form von X.',
      },
      dV: {
        title: 'Durch O = P V, zu V',
        why: 'Ein Matrixprodukt reicht seinen Gradienten an jeden Faktor weiter, multipliziert mit dem anderen Faktor, transponiert.',
      },
      dP: {
        title: 'Durch O = P V, zu P',
        why: 'Zeile $i$ von dP ist Zeile $i$ von dO mal Vᵀ: Die Zeilen brauchen einander nicht.',
      },
      softmax: {
        title: 'Durch das Softmax',
        why: 'Steigt ein Score, sinken alle anderen Gewichte seiner Zeile, denn ihre Summe ist eins: daher die Summe über die Zeile.',
      },
      D: {
        title: 'Die Summe ist schon bekannt',
        why: 'Vertausche die Summen: Die Zeile von P mal V ist die Zeile von O. D braucht also weder P noch dP, nur dO und O.',
      },
      dQdK: {
        title: 'Durch S = Q Kᵀ',
        why: 'Wieder ein Produkt. Sind die Scores skaliert, werden beide mit dem Faktor multipliziert.',
      },
      dX: {
        title: 'Durch die Projektionen, zu X',
        why: 'Q, K und V entstehen alle aus demselben X, also ist sein Gradient eine Summe aus dreien. Ein Attention-Kernel hört vorher auf und überlässt das gewöhnlichen Produkten.',
      },
      dW: {
        title: 'Durch die Projektionen, zu den Gewichten',
        why: 'Danach hat der Optimierer gefragt. Nichts hier ist so groß wie P.',
      },
    },
    jacobian: 'Wo ist die Ableitung einer Matrix nach einer Matrix?',
    jacobianAnswer: [
      'Sie hat vier Indizes und wird nie gebaut. Sie wird sofort mit dem Gradienten kontrahiert, der von hinten kommt, und eine Matrix bleibt übrig: derselbe Trick wie bei P, ein Zwischenergebnis, das verbraucht wird, wo es entsteht.',
    ],
    whyGradients: 'Quiz: Warum überhaupt dQ, dK und dV berechnen?',
    whyGradientsAnswer: [
      'Q, K und V passt niemand an: Sie entstehen jedes Mal neu aus X. Aber die Gradienten der Projektionsgewichte und von X sind Produkte *mit* ihnen, also führt der Weg hindurch. Jede Zeile von dQ kann beiden dienen, $dX$ und $dW_Q$, und dann vergessen werden.',
    ],
    howMuch: 'Quiz: Wie viel Rechnen kosten die Projektionen?',
    howMuchAnswer: [
      'Jedes von $dW_Q$, $dW_K$, $dW_V$ ist ein Produkt einer $d \\times n$- mit einer $n \\times d$-Matrix: $2nd^2$ Rechenschritte, zusammen $6nd^2$. dX braucht drei Produkte von $n \\times d$ mit $d \\times d$: noch einmal $6nd^2$. Attention selbst braucht fünf Produkte zu $2n^2d$: Sie überwiegt, sobald $n$ größer ist als etwa $d$.',
    ],
    byRowsOrColumns: 'Zeilen oder Spalten',
    walkWhy:
      'Softmax geht zeilenweise, also scheint dS Zeilen zu wollen. Aber sind lse und D je Zeile bekannt, kann jedes Element jederzeit entstehen.',
    walk: 'Weg',
    walks: { rows: 'Zeile für Zeile', columns: 'Spalte für Spalte' },
    walkFigure: (at, n, walk) =>
      `${at} von ${n} ${walk === 'rows' ? 'Zeilen' : 'Spalten'} von dS sind berechnet`,
    styles: { inner: 'inneres Produkt', outer: 'äußeres Produkt' },
    walkNotes: {
      rows: 'Ein inneres, zwei äußere. Jede Zeile von dS beendet eine Zeile von dQ; dK und dV ändern sich bei jedem Schritt überall, müssen also ganz da sein.',
      columns:
        'Zwei innere, ein äußeres: besser verteilt. Jede Spalte beendet eine Zeile von dK und eine von dV; nur dQ bleibt bis zum Ende unfertig.',
    },
    worth: 'Was es wert ist, D vorher zu kennen',
    worthWhy:
      'dS braucht das D seiner Zeile. Aus P und dP ist D erst bekannt, wenn die ganze Zeile gesehen ist, und K und V müssen ein zweites Mal kommen. Aus dO und O vorab berechnet, genügt einmal: doppelt so viel Rechnen je Byte.',
    whenD: 'D',
    knownD: 'D = rowsum(dO ∘ O), vorab',
    lateD: 'D = rowsum(P ∘ dP), unterwegs',
    blocks: 'Blöcke (n)',
    loadsFigure: (done, all) =>
      `${done} von ${all} Ladevorgängen für Blöcke von K und V sind geschehen; jeder Block zeigt, wie oft`,
    kLoads: 'K-Blöcke geladen',
    vLoads: 'V-Blöcke geladen',
    productsPerLoad: 'Produkte je Ladevorgang',
    purposes: {
      rows: 'Dieses Laden findet nur einen Teil von D; der Block wird noch einmal gebraucht.',
      gradients: 'Dieses Laden gibt alles her: P, dP, dS und was sie zu dQ, dK und dV beitragen.',
    },
    notBegun: 'Noch ist nichts geladen.',
    blockSteps: {
      known: [
        'Einen Block K und V laden.',
        'P noch einmal, aus Q, K und lse.',
        'dP aus dO und V.',
        'dS aus P, dP und D: ohne zu warten.',
        'Zu dQ addieren; K ist noch da.',
        'Zu dK und dV addieren.',
        'Den Block vergessen.',
      ],
      late: [
        'Für die ganze Zeile: K und V laden, P und dP berechnen, zu D addieren, vergessen.',
        'Dann noch einmal: K und V laden, P und dP ein zweites Mal berechnen.',
        'dS, nun da D vollständig ist.',
        'Zu dQ, dK und dV addieren.',
        'Den Block vergessen.',
      ],
    },
    library: 'Was die Bibliothek ausführt',
    libraryWhy:
      'Zeilen- und spaltenweise bleibt je etwas unfertig, das Arbeitsgruppen einander in den Speicher addieren müssten. Die Bibliothek geht stattdessen zweimal, jedes Mal so, dass fertig wird, was sie berechnet: keine atomaren Operationen, und in jedem Lauf dieselben Bits.',
    mask: 'Maske',
    noMask: 'Keine Maske',
    causal: 'Kausal',
    kernels: {
      dkdv: {
        title: 'Zuerst dK und dV: eine Arbeitsgruppe je Keykachel',
        about:
          'Jede Spalte ist eine Arbeitsgruppe. Sie geht die Querykacheln hinab, die ihre Keys sehen, und beendet ihre Zeilen von dK und dV.',
      },
      dq: {
        title: 'Dann dQ: eine Arbeitsgruppe je Querykachel',
        about:
          'Jede Zeile ist eine Arbeitsgruppe. Sie geht die Keykacheln entlang, die sie sieht, und beendet ihre Zeilen von dQ.',
      },
    },
    kernelFigure: (at, n) => `Jede Arbeitsgruppe ist ${at} von höchstens ${n} Kacheln begegnet`,
    kernelTable: 'Kernels für rückwärts',
    kernelColumns: ['Kernel', 'Eine Arbeitsgruppe hat', 'Sie geht über', 'und beendet'],
    kernelRows: [
      ['rows', 'einige Queries', 'deren Kanäle', 'D (minus den Gradienten von lse) und lse, nebeneinander'],
      ['dK, dV', 'eine Kachel Keys', 'die Querykacheln, die sie sehen', 'dK = dSᵀ·Q und dV = Pᵀ·dO'],
      ['dQ', 'eine Kachel Queries', 'die Keykacheln, die sie sieht', 'dQ = dS·K'],
    ],
    sevenProducts:
      'S und dP werden in beiden berechnet: sieben Matrixprodukte, wo fünf genügten. Nichts wird gespeichert, was mit dem Quadrat der Sequenz wächst.',
    further: 'Könnten dQ, dK und dV denselben Weg gehen wie P?',
    furtherAnswer: [
      'Auch sie werden in Kontraktionen verbraucht. Multipliziere die Projektionsgewichte in die rechten Faktoren, die nur n × d groß sind, und dX lässt sich summieren, während dS vorbeiströmt:',
      'Aber auch die Gewichtsgradienten brauchen dQ, dK und dV, und ein Framework behält seine linearen Schichten für sich. Flash-Attention hört hier auf.',
    ],
  },

  dropout: {
    intro:
      'Dropout verwirft jedes Attentiongewicht mit der Wahrscheinlichkeit p. Um sich zu merken, welche, brauchte man so viele Bits, wie es Gewichte gibt. Stattdessen wird jedes Bit berechnet, wenn es gebraucht wird, aus einem Seed und aus seinem Ort: Philox macht aus einem Zähler zufällige Wörter, und aus demselben Zähler dieselben Wörter, vorwärts wie rückwärts, auf jeder Maschine.',
    oneSeed: 'Ein Seed, drei Konventionen',
    seed: 'Seed',
    offset: 'Offset',
    share: 'Verworfen (p)',
    noNumber: 'Seed und Offset sind ganze Zahlen von 0 bis 2⁶⁴ − 1.',
    schemes: {
      'torch-efficient': {
        title: 'PyTorch, memory-efficient',
        unit: 'ein Wort je Element, 10 Runden',
        how: 'Die Elemente sind vom Offset an zeilenweise nummeriert; der Zähler ist diese Nummer durch vier, der Rest wählt das Wort. Behalten wird, wenn das Wort mindestens p·2³² ist.',
      },
      'flash-attention-2': {
        title: 'FlashAttention-2',
        unit: 'ein Byte je Element, 7 Runden',
        how: 'Die Maske ist geschnitten, wie Tensor Cores sie halten: Kacheln von 16 × 32, und darin für jedes Element eine von 32 Lanes. Ein Block entscheidet sechzehn Elemente, je ein Byte; p ist also ein Vielfaches von 1/256.',
      },
      onednn: {
        title: 'oneDNN',
        unit: 'ein Wort je Element, 10 Runden',
        how: 'Der Offset füllt die eine Hälfte des Zählers, die Nummer des Elements die andere: Ein anderer Offset ist ein anderer Strom. Vier Elemente nebeneinander teilen sich einen Block.',
      },
    },
    maskLabel: (title, i, j, kept) =>
      `${title}: Element (${i}, ${j}) ist ${kept ? 'behalten' : 'verworfen'}. Pfeiltasten wählen ein anderes.`,
    comparing: 'Die Engine zieht dieselbe Maske …',
    compared: (differ, total) =>
      differ === 0
        ? `Die Maske der Engine ist in allen ${total} Elementen dieselbe.`
        : `Die Maske der Engine ist in ${differ} von ${total} Elementen anders.`,
    comparedWith: {
      webgpu: ({ description }) =>
        `Hier in TypeScript gezogen und vom Attention-Kernel auf der GPU (${description}); Bit für Bit verglichen.`,
      'no-webgpu': () =>
        'Hier in TypeScript gezogen und von der CPU-Engine, denn dieser Browser hat kein WebGPU; Bit für Bit verglichen.',
      'gpu-failed': ({ reason }) =>
        `Hier in TypeScript gezogen und von der CPU-Engine; Bit für Bit verglichen. Die GPU war nicht zu gebrauchen: ${reason}`,
    },
    keptShare: 'Behalten',
    fromP: 'Von p',
    across: 'Quer',
    down: 'Hinab',
    note: '64 Queries × 64 Keys; Hell ist behalten. „Von p“ ist der Abstand des behaltenen Anteils von 1 − p in Standardabweichungen; „Quer“ und „Hinab“ sind die Korrelationen von Nachbarn.',
    element: (i, j, title) => `Query ${i}, Key ${j}: ${title}`,
    neighbourhood: 'Die Elemente ringsum: eines drücken, um es zu wählen',
    mates: 'Grün ist behalten. Umrandet: vom selben Philox-Block entschieden.',
    counter: 'Zähler',
    key: 'Schlüssel (der Seed)',
    word: lane => `Wort ${lane}`,
    byte: (byte, lane) => `Byte ${byte} von Wort ${lane}`,
    decision: 'Entscheidung',
    kept: rule => `${rule} gilt: behalten`,
    dropped: rule => `${rule} gilt nicht: verworfen`,
    drawn: (share, edge) => `Die gezogene Zahl liegt bei ${share} ihres Bereichs, die Schwelle bei ${edge}`,
    rounds: n => `${n} Runden Philox`,
    round: 'Runde',
    block: 'Block',
    flipped: 'Bits, die anders wären, wäre ein Bit des Zählers gekippt',
    roundsWhy:
      'Eine Runde multipliziert zwei der Wörter mit Konstanten, vertauscht die Hälften und mischt den Schlüssel ein, der um den Goldenen Schnitt wächst. Nach wenigen Runden hat ein gekipptes Bit etwa die Hälfte aller 128 verändert.',
    why: 'Warum kein gewöhnlicher Zufallsgenerator?',
    whyAnswer: [
      'Ein gewöhnlicher Generator hat einen Zustand, der mitläuft: Wer seine millionste Zahl wissen will, muss alle davor ziehen. Arbeitsgruppen einer GPU berechnen Kacheln in beliebiger Folge, und rückwärts geht es einen anderen Weg als vorwärts. Ein zählerbasierter Generator hat keinen Zustand: Der Ort des Elements *ist* der Zähler.',
    ],
    keepMask: 'Und wenn ich eine eigene Maske habe?',
    keepMaskAnswer: [
      'Gib sie an: `dropout: { mask, p }`. Dann wird je Gewicht ein Byte gelesen statt berechnet; das kostet Speicher, gibt aber alles wieder.',
    ],
  },

  lab: {
    intro: S =>
      `Ein Kopf, ${S} Queries (nach unten) und ${S} Keys (nach rechts). Graue Paare sind verdeckt: Sie bekommen kein Gewicht und keinen Gradienten. Zeig auf ein Paar oder geh mit den Pfeiltasten, um seine Zahlen zu sehen.`,
    mask: 'Maske',
    scores: 'Scores',
    probabilities: 'Wahrscheinlichkeiten P',
    gradients: 'Gradienten der Scores',
    hidden: 'verdeckt',
    pair: (i, j) => `Query ${i}, Key ${j}`,
    mapLabel: (title, i, j, value) =>
      `${title}: Query ${i}, Key ${j}: ${value}. Pfeiltasten wählen ein anderes Paar.`,
    range: (low, high) => `${low} bis ${high}`,
    seen: share => `${share} aller Paare sind zu sehen.`,
    masks: {
      none: { title: 'Keine Maske', about: 'Jede Query sieht jeden Key.' },
      causal: {
        title: 'Kausal',
        about:
          'Eine Query sieht die Keys bis zu ihrer eigenen Stelle. Kacheln über der Diagonale werden übersprungen.',
      },
      window: {
        title: 'Gleitendes Fenster',
        about: 'Nur die nächsten Keys: Die Arbeit wächst mit der Länge, nicht mit ihrem Quadrat.',
        value: 'Keys nach links',
      },
      alibi: {
        title: 'ALiBi',
        about: 'Ein Abzug, der mit dem Abstand wächst, ersetzt Positionen.',
        value: 'Steigung',
      },
      softcap: {
        title: 'Softcap',
        about: 'Scores werden durch c·tanh(s/c) gebogen, sodass keiner alles bestimmt.',
        value: 'Grenze c',
      },
      document: {
        title: 'Dokumente',
        about: 'Mehrere Dokumente in einer Sequenz: Keine Query sieht ein anderes Dokument.',
        value: 'Dokumente',
      },
      prefix: {
        title: 'Präfix',
        about: 'Die ersten Keys sehen alle; danach ist es kausal.',
        value: 'Länge des Präfixes',
      },
      dilated: {
        title: 'Gespreizt',
        about: 'Jeder soundsovielte Key, von der Query aus gezählt: weit mit wenig Arbeit.',
        value: 'Abstand',
      },
      block: {
        title: 'Blockmaske',
        about:
          'Kacheln von 128 × 128, nach denen niemand fragt, werden gar nicht berechnet: je ein Bit, aus einer Masken-Mod gemacht (hier: ein globales Präfix und die Nachbarschaft).',
        value: 'Keys auf jeder Seite',
      },
      sink: {
        title: 'Sink',
        about: 'Ein weiterer Logit ohne Wert: Die Summe der Gewichte kann kleiner als eins sein.',
        value: 'Logit des Sinks',
      },
    },
  },

  engine: {
    looking: 'Sucht eine GPU …',
    runsOn: {
      webgpu: ({ description }) => `Auf der GPU berechnet (${description}).`,
      'no-webgpu': () => 'Auf der CPU berechnet: Dieser Browser hat kein WebGPU.',
      'gpu-failed': ({ reason }) => `Auf der CPU berechnet: ${reason}`,
    },
    label: 'Rechenwerk',
    choices: { auto: 'GPU, wenn es eine gibt', webgpu: 'WebGPU', cpu: 'CPU' },
    ranOn: {
      webgpu: engine => `Auf der GPU gerechnet (${engine}).`,
      cpu: engine => `Auf der CPU gerechnet (${engine}).`,
    },
    instead: {
      software: ({ adapter }) =>
        `Es gibt WebGPU, aber der Adapter (${adapter}) ist eine CPU, die eine GPU spielt; das CPU-Rechenwerk ist schneller.`,
      error: ({ message }) => `Keine GPU war zu gebrauchen: ${message}`,
    },
  },

  graph: {
    intro: [
      'Ein Framework sagt nicht „Attention“. Es sagt Produkt, Skalierung, Maske, Softmax, Produkt und hofft, dass es jemand merkt. `@tilewise/graph` merkt es: Es findet Attention in einem Graphen von Operationen, wie auch immer sie geschrieben ist, und führt das Gefundene als *einen* Flash-Kernel aus. Was es nicht erkennt, läuft Operation für Operation.',
      'Dies ist der echte Partitionierer. Ändere den Graphen und sieh, was er daraus macht; der Gradientengraph ist aus dem Vorwärtsgraphen abgeleitet, und seine Attention wird wiedergefunden.',
    ],
    passTitles: {
      inference: 'Attention, für Inferenz',
      training: 'Attention, vorwärts im Training',
      backward: 'Attention, rückwärts',
    },
    pass: 'Graph',
    passes: { inference: 'Inferenz', training: 'Training, vorwärts', backward: 'Training, rückwärts' },
    mask: 'Maske',
    masks: { none: 'Keine', causal: 'Kausal', added: 'Addiert', selected: 'Ausgewählt' },
    softmax: 'Softmax',
    softmaxes: { operation: 'Eine Operation', decomposed: 'Ausgeschrieben' },
    dtype: 'Typ',
    dropout: 'Dropout',
    grouped: 'Gruppierte Köpfe',
    softcap: 'Softcap',
    policy: 'Partitionen',
    policies: { fusion: 'Verschmolzen', debug: 'Eine je Operation' },
    tones: {
      attention: 'ein Flash-Kernel',
      fused: 'Operationen, die zusammen laufen',
      single: 'eine Operation',
    },
    operations: 'Operationen',
    partitions: 'Partitionen',
    computed: 'Ergebnisse aller Operationen',
    stored: 'Davon gespeichert',
    keys: 'Pfeiltasten gehen von Operation zu Operation; +, − und 0 zoomen, ebenso das Rad mit Strg und zwei Finger.',
    zoom: 'Zoom',
    zoomIn: 'Näher',
    zoomOut: 'Weiter weg',
    zoomFit: 'Einpassen',
    details: 'Die Operation',
    reads: 'Liest',
    gives: 'Gibt',
    port: 'Anschluss',
    tensor: 'Tensor',
    shape: 'Form',
    file: 'Ein eigener Graph',
    drop: 'Lege hier einen Graphen im JSON-Format von oneDNN ab (einen Graph-Dump oder eine Eingabe von benchdnn), um zu sehen, wie er geteilt wird.',
    chooseFile: 'Datei wählen…',
    leaveFile: 'Zurück zum gebauten Graphen',
    saveFile: 'Diesen Graphen sichern',
    unreadable: 'Das ist kein lesbarer Graph.',
    unreadableHint:
      'Eine Graphdatei ist ein JSON-Objekt mit version, engine_kind, fpmath_mode und einer Liste graph von Operationen. oneDNN schreibt eine mit ONEDNN_GRAPH_DUMP=graph.',
    run: {
      title: 'Ausführen',
      about:
        'Übersetzt jede Partition und führt sie mit Zufallszahlen aus, danach dasselbe mit jeder Operation für sich. Beides muss dasselbe ergeben.',
      start: 'Graphen ausführen',
      stop: 'Anhalten',
      running: 'Läuft…',
      failed: 'Es lief nicht:',
      partitionsTook: n => (n === 1 ? '1 Partition' : `${n} Partitionen`),
      singleTook: 'Operation für Operation',
      neverStored: n => `${n} Tensoren nie gespeichert`,
      same: difference => `Beides ergibt dasselbe, bis auf ${difference} der größten Zahl.`,
      singleSkipped: 'Operation für Operation würde es hier zu lange dauern; es gibt keinen Vergleich.',
      partitions: 'Partitionen',
      kind: 'Art',
      operations: 'Operationen',
      kernel: 'Läuft als',
      kernels: { attention: 'ein Attention-Kernel', operations: 'seine Operationen' },
      workspace: 'Arbeitsspeicher',
      time: 'Zeit',
      results: 'Ergebnisse',
      tensor: 'Tensor',
      shape: 'Form',
      range: 'Von … bis',
      first: 'Erste Zahlen',
    },
  },

  measure: {
    intro: [
      'Niemand sollte einer Geschwindigkeit glauben, die anderswo gemessen wurde. Hier laufen die Kernel dieser Bibliothek auf *deiner* GPU, neben Attention, wie ein Lehrbuch sie schreibt: ein Kernel für die Scores, einer für den Softmax, einer für das Produkt mit V, und dazwischen S × S Zahlen, die in den Speicher und zurück reisen.',
    ],
    title: 'Messen',
    engine: 'Auf',
    engines: { auto: 'GPU, wenn es eine gibt', cpu: 'CPU' },
    size: 'Längen',
    sizes: { auto: 'Wie die Maschine kann', small: 'Kurz', medium: 'Mittel', large: 'Lang' },
    headSize: 'Kopfgröße',
    dtype: 'Typ',
    causal: 'Kausal',
    start: 'Messen',
    stop: 'Anhalten',
    before:
      'Auf einer GPU dauert es einige Sekunden, bis zu einer Minute, wo eine CPU eine spielt. Nichts verlässt diese Seite.',
    progress: 'Bisher gemessen',
    running: 'Es wird gemessen…',
    finished: n => `${n} Messungen.`,
    failed: 'Es ließ sich nicht messen:',
    machine: 'Maschine',
    clock: 'Uhr',
    clocks: { timestamps: 'die der GPU', 'wall clock': 'die der Seite' },
    features: 'Fähigkeiten',
    instead: why =>
      `Keine GPU war zu gebrauchen: ${why} Auf der CPU gibt es nichts mit gespeicherten Scores zum Vergleich.`,
    software:
      'Dieser Adapter ist eine CPU, die eine GPU spielt. Die Zahlen sagen, dass die Kernel richtig rechnen, und nichts über eine GPU.',
    speedOf: { forward: 'Vorwärts: Geschwindigkeit', backward: 'Rückwärts: Geschwindigkeit' },
    memoryOf: 'Rückwärts: Speicher',
    inTable: 'Die Zahlen stehen in der Tabelle darunter.',
    table: 'Messungen',
    length: 'Länge S',
    pass: 'Richtung',
    passes: { forward: 'vorwärts', backward: 'rückwärts' },
    implementation: 'Weise',
    implementations: { flash: 'Flash', naive: 'gespeichert' },
    time: 'Zeit',
    memory: 'Speicher',
    error: 'Fehler',
    faster: 'Schneller',
    failures: { 'too large': 'passt nicht', wrong: 'falsches Ergebnis' },
    copy: 'Als JSON kopieren',
    copied: { yes: 'Kopiert.', no: 'Der Browser hat es nicht erlaubt; der Text steht darunter.' },
    json: 'Als JSON',
    counted:
      'FLOP sind für beide gleich gezählt: $2 \\cdot \\text{Paare} \\cdot (D_{qk} + D_v)$ vorwärts, $2 \\cdot \\text{Paare} \\cdot (3 D_{qk} + 2 D_v)$ rückwärts, über Paare, die einander sehen. Was eine Umsetzung außerdem rechnet, zählt nur als Zeit.',
    howSummary: 'Wie wird gemessen?',
    how: [
      'Jede Richtung wird übersetzt und einmal ausgeführt, bevor die Uhr läuft, danach in Runden von etwa 20 ms; der Median von fünf Runden zählt. Wo die GPU Zeitstempel hat, gelten diese, sonst die Zeit, bis ihre Warteschlange leer ist. Ein Worker macht es, damit die Seite nicht im Weg ist.',
      'Von einem falschen Ergebnis wird keine Zeit gezeigt: Der letzte Kopf jedes Ergebnisses wird zuerst mit dem CPU-Rechenwerk verglichen (von dem ein Kopf mit der float64-Referenz verglichen wird). Der Fehler ist im Verhältnis zur größten Zahl.',
      'Attention mit gespeicherten Scores ist geschrieben, wie ein sorgfältiges Lehrbuch es täte: Produkte mit Kacheln von 16 × 16 im Speicher der Arbeitsgruppe, eine Arbeitsgruppe für jede Zeile des Softmax. Sie ist immer in f32. Der Speicher zählt alle Puffer einer Richtung, auch Eingaben und Ergebnisse.',
    ],
  },

  train: {
    intro: [
      'Attention wird nicht geschrieben, sie wird gelernt. Hier beginnt ein kleiner Transformer mit zufälligen Gewichten und wird in dieser Seite trainiert: Jeder Schritt führt einen Vorwärtsgraphen aus, den daraus abgeleiteten Gradientengraphen und AdamW, mit der Attention aus Kapitel 7 als je einem Kernel in jede Richtung.',
      'Die erste Aufgabe ist ohne Attention nicht zu lösen. Paare aus einem Buchstaben und einer Ziffer werden gezeigt, dann die Buchstaben noch einmal, in anderer Reihenfolge: Welche Ziffer gehört zu welchem? Sieh zu, wie der Verlust eine Weile stillsteht und dann fällt, wenn ein Kopf herausfindet, wohin er sehen muss.',
    ],
    title: 'Einen Transformer trainieren',
    task: 'Lernen',
    tasks: { recall: 'Paare merken', page: 'Den Text dieser Seite', own: 'Einen eigenen Text' },
    taskWhy: {
      recall:
        'Nur die Ziffer nach einem wiederholten Buchstaben zählt. Raten ergibt eine Genauigkeit von 10 %.',
      page: 'Das nächste Zeichen, überall, in dem, was diese Seite sagt.',
      own: 'Das nächste Zeichen, überall. Der Text bleibt in dieser Seite und steht nicht in ihrer Adresse.',
    },
    headCount: 'Köpfe',
    width: 'Breite',
    layers: 'Schichten',
    dropout: 'Dropout',
    seed: 'Startwert',
    ownText: 'Dein Text',
    ownPlaceholder: 'Einige Seiten sind besser als einige Zeilen.',
    ownFile: 'Oder eine Textdatei wählen…',
    start: 'Trainieren',
    pause: 'Pause',
    resume: 'Weiter',
    tenSteps: 'Zehn Schritte',
    startOver: 'Von vorn',
    starting: 'Wird vorbereitet…',
    failed: 'Es lässt sich nicht trainieren:',
    step: 'Schritt',
    loss: 'Verlust',
    accuracy: 'Genauigkeit',
    perStep: 'Ein Schritt',
    parameters: 'Parameter',
    lossCurve: 'Verlust: jedes Schritts (Linie), auf zurückgehaltenen Folgen (Punkte)',
    accuracyCurve: 'Genauigkeit: jedes Schritts (Linie), auf zurückgehaltenen Folgen (Punkte)',
    sameCurve: (alike, of) =>
      alike === of
        ? `Gleicher Startwert, gleiche Kurve: Alle ${of} Schritte bisher haben genau den Verlust des Laufs davor, bis aufs letzte Bit.`
        : `Der Lauf davor hatte ab Schritt ${alike + 1} einen anderen Verlust: Rechenwerke runden verschieden.`,
    looksAt: 'Wohin es sieht',
    looksAtWhy:
      'Jedes Bild ist ein Kopf: eine Zeile für jedes Token, dunkel, wohin es sieht. Am Anfang sieht jedes Token überallhin; beim Merken von Paaren suche den Kopf, in dem ein wiederholter Buchstabe die Ziffer hinter seinem ersten Platz findet.',
    head: (layer, head) => `Schicht ${layer}, Kopf ${head}`,
    moment: 'Wann',
    afterSteps: steps => `nach ${steps} Schritten`,
    token: 'Token',
    looks: (token, most, at, share) =>
      `Das Token ${token} sieht am meisten auf ${most}, Platz ${at}: ${share}.`,
    ask: 'Frag es',
    askRecall:
      'Paare, und ein Buchstabe noch einmal. Es antwortet mit der Ziffer, so gut es das gelernt hat.',
    askText: 'Es setzt fort, was du schreibst, so gut es das gelernt hat.',
    prompt: 'Beginne mit',
    temperature: 'Temperatur',
    goOn: 'Fortsetzen',
    right: 'richtig',
    wrong: answer => `es ist ${answer}`,
  },
};

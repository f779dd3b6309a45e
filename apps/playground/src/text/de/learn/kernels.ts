import type { ChapterTexts } from '../../text.ts';

export const kernels: ChapterTexts['kernels'] = {
  intro: [
    'Die Spielmaschine hatte fünf Register. Deine GPU hat Tausende von Spuren, und dieselben drei Zahlen tragen die Last: ein Maximum, ein Nenner, ein Zähler. Hier schreibst du die Kernel in WGSL, der Sprache von WebGPU, von der einfachen Formel bis zu beiden Hälften des Rückwärtsgangs.',
    'Ein Programm läuft auf deiner eigenen GPU, auf verdeckten Eingaben: Scores, die überlaufen, Längen, die in keine Kachel passen, Maxima, die steigen und fallen. Das Ergebnis wird mit einer float64-Referenz verglichen, die Lesezugriffe werden gezählt, und dann läuft es gegen einen einfachen Kernel und den besten, den wir kennen.',
  ],
  label: 'Aufgabe',
  given: 'Steht vor deinem Programm',
  dispatch: {
    lanes: 'Läuft als $\\lceil n/64 \\rceil$ Workgroups.',
    tile: 'Läuft als $\\lceil n/\\text{TILE} \\rceil$ Workgroups.',
    row: 'Läuft als eine Workgroup je Zeile.',
  },
  program: title => `Kernel: ${title}`,
  placeholder: '@compute @workgroup_size(64)\nfn main() { … }',
  run: 'Ausführen',
  runKeys: 'Strg + Enter führt es auch aus.',
  stages: {
    compiling: () => 'Wird übersetzt …',
    checking: ({ done, of }) => `Auf ${done} von ${of} verdeckten Eingaben richtig …`,
    timing: () => 'Richtig. Die Zeit wird gemessen …',
  },
  changed: 'Du hast das Programm seit diesem Lauf geändert.',
  notRun: 'Noch nicht ausgeführt.',
  line: (line, message) => `Zeile ${line}: ${message}`,
  failures: {
    'no-webgpu': () =>
      'Dieser Browser hat kein WebGPU, also kann hier nichts laufen. Du kannst schreiben, die Hinweise lesen und mit den Lösungen vergleichen; in Chrome, Edge, Safari 26 und Firefox 141 läuft es.',
    'no-adapter': ({ message }) =>
      `Der Browser hat WebGPU, gibt aber kein Gerät her. ${message || 'Vielleicht ist seine GPU abgeschaltet.'} Chrome nimmt mit --enable-unsafe-swiftshader einen Software-Adapter.`,
    compiler: ({ errors }) =>
      errors.length === 1
        ? 'Es lässt sich nicht übersetzen.'
        : `Es lässt sich nicht übersetzen: ${errors.length} Fehler.`,
    refused: ({ message }) => `Es lässt sich übersetzen, aber das Gerät nimmt es nicht an: ${message}`,
    lost: ({ message }) =>
      `Das Gerät ging verloren. ${message} Dein Programm ist aufgehoben, und der nächste Lauf öffnet ein neues Gerät.`,
    hung: ({ seconds }) =>
      `In ${seconds} Sekunden kam nichts zurück, also wurde das Gerät aufgegeben. Endet eine Schleife nie? Dein Programm ist aufgehoben, und der nächste Lauf öffnet ein neues Gerät.`,
    busy: () =>
      'Es kam kein Gerät. Vielleicht beschäftigt ein Kernel, der nie endet, noch die GPU: Lade die Seite neu. Dein Programm ist aufgehoben.',
  },
  inputs: {
    whole: 'gewöhnlichen Zahlen',
    tail: 'einem n, das in keine Kachel passt',
    one: 'einem einzigen Key',
    falling: 'fallenden Scores',
    rising: 'steigenden Scores',
    high: 'Scores um 120',
    low: 'Scores um −120',
  },
  wrongOn: (input, n) => `Falsch bei ${input} (n = ${n}).`,
  wrong: {
    differs: ({ array, row, column, got, wanted }, short) =>
      `Der größte Fehler ist in ${array}, Zeile ${row}, Spalte ${column}: ${short(got)} statt ${short(wanted)}.`,
    unwritten: ({ array, row, column }) =>
      `In ${array}, Zeile ${row}, Spalte ${column}, wurde nichts geschrieben.`,
    outside: ({ array, row }) => `${array} wurde hinter seinem Ende beschrieben, in Zeile ${row}.`,
  },
  slips: {
    scale: 'Das sind die Zahlen ohne die Skalierung: $1/\\sqrt{d}$ fehlt.',
    mask: 'Das sind die Zahlen ohne die Maske: Jede Query sieht jeden Key.',
    normalise: 'Das sind die Zahlen vor der Division durch die Summe.',
    rescale:
      'Das sind die Zahlen von Summen, die beim Steigen des Maximums gleich bleiben: Sie müssen um $e^{m - m^{\\prime}}$ schrumpfen.',
    delta: 'Das sind die Zahlen von $dS = P \\circ dP$: delta wird nicht abgezogen.',
    barrier:
      'Spuren lesen, was andere Spuren schreiben. Dazwischen muss ein `workgroupBarrier()` stehen, und noch eines, bevor der Platz wieder beschrieben wird.',
    race: 'Ein zweiter Lauf ergab andere Zahlen: Eine Spur liest, was eine andere noch schreibt. Sieh dir deine Barrieren an.',
  },
  inputHints: {
    whole: 'An dieser Eingabe ist nichts Besonderes: Geh die Formel durch.',
    tail: 'n ist hier kein Vielfaches der Workgroup. Welches Laden, welche Schleife geht über das Ende hinaus?',
    one: 'Es gibt nur einen Key, also ist sein Gewicht 1.',
    falling: 'Das Maximum kommt hier zuerst: Nichts danach darf m erhöhen.',
    rising:
      'Das Maximum steigt hier mit jedem Key: Was vorher summiert wurde, muss um $e^{m - m^{\\prime}}$ schrumpfen.',
    high: '$e^{120}$ ist mehr, als ein f32 fassen kann: Zieh das Maximum vor `exp` ab.',
    low: '$e^{-120}$ ist in einem f32 gleich 0. Ein Maximum, das bei 0 beginnt, findet diese Scores nie: Beginne weit darunter.',
  },
  right: inputs => `Richtig auf allen ${inputs} verdeckten Eingaben.`,
  largest: (error, allowed, place) => `Größter Fehler ${error} bei ${place}; die Rundung erlaubt ${allowed}.`,
  exact: 'Kein einziges Bit Fehler.',
  place: (array, row, column) => (column === null ? `${array}[${row}]` : `${array}[${row}][${column}]`),
  reads: ({ array, unit, found, most }, write) =>
    unit === 'tiles'
      ? `${write(found)} Kacheln von ${array} gelesen, ${write(most)} genügen`
      : `${write(found)} Durchgänge durch ${array}, ${write(most)} genügen`,
  tooSlow: 'Richtig, aber es liest mehr als nötig. Die Zeit wird darum noch nicht gemessen.',
  times: { own: 'Deiner', rival: 'Einfach', best: 'Bester' },
  timesCaption: 'Zeit eines Dispatchs',
  ms: time => `${time} ms`,
  race: {
    ahead: 'Schneller als der beste, den wir kennen.',
    level: 'So schnell wie der beste, den wir kennen.',
    behind: times => `Der beste, den wir kennen, ist ${times}-mal so schnell.`,
  },
  measured: ({ sizes, clock, device, software }, write) =>
    `n = ${write(sizes.n)}, auf ${device || 'dieser GPU'}${software ? ', einer CPU, die eine GPU spielt' : ''}, mit ${clock === 'timestamps' ? 'der Uhr der GPU' : 'der Wanduhr'}.`,
  puzzles: {
    naive: {
      short: 'Naiv',
      title: 'Attention, wie sie dasteht',
      task: 'Ein Aufruf je Query: $o_i = \\sum_j p_{ij} v_j$ mit $p_{ij} = e^{s_{ij} - m_i} / \\ell_i$ und $s_{ij} = q_i \\cdot k_j / \\sqrt{d}$. Berechne die Scores, sooft du willst, aber speichere keinen.',
      hints: [
        'Drei Dinge braucht es von einer Zeile: ihr Maximum m, die Summe ℓ der $e^{s - m}$ und die Summe der $e^{s - m} v$. Das erste braucht eine eigene Schleife.',
        'Beginne mit `var m = score(i, 0u);` und geh mit `max` weiter. Addiere in einer zweiten Schleife p zu ℓ und p mal Zeile j von `v` zu `o_i`.',
        'Die Division durch ℓ ist schon da: Ersetze `var l = 1.0` durch eine Summe, die bei 0 beginnt.',
      ],
    },
    'row-softmax': {
      short: 'Zeile',
      title: 'Eine Zeile Softmax, mit 64 Spuren',
      task: 'Eine Workgroup je Zeile: $y_j = e^{x_j - m} / \\sum_k e^{x_k - m}$. Jede Spur sieht jede 64. Zahl; über den Speicher der Workgroup einigen sie sich auf Maximum und Summe. Höchstens drei Durchgänge durch x.',
      hints: [
        'Jede Spur schreibt ihr eigenes Maximum in `part[lane]`. Dann nimmt die Hälfte der Spuren das größere von zweien, dann ein Viertel, bis eines übrig ist: ein Baum.',
        '`for (var half = LANES / 2u; half > 0u; half /= 2u)`: Spuren unter `half` verbinden `part[lane]` mit `part[lane + half]`. Nach jedem Schritt kommt `workgroupBarrier()`, außerhalb des `if`.',
        'Alle Spuren lesen `part[0]`. Noch eine Barriere muss folgen, bevor `part` für die Summen wieder benutzt wird.',
      ],
    },
    'streaming-softmax': {
      short: 'Strom',
      title: 'Maximum und Summe in einem Durchgang',
      task: 'Dasselbe Softmax mit höchstens zwei Durchgängen durch x: Jede Spur trägt einen Zustand $(m, \\ell)$, und Zustände verschmelzen durch $\\ell = \\ell_a e^{m_a - m} + \\ell_b e^{m_b - m}$ mit $m = \\max(m_a, m_b)$.',
      hints: [
        'Eine einzelne Zahl x ist der Zustand (x, 1). Eine Funktion leistet also beides: Sie nimmt eine Zahl auf, und sie verschmilzt zwei Spuren.',
        'Achte auf die Exponenten: `exp(a.x - m)` und `exp(b.x - m)`. Der größere Zustand behält seine Summe, der andere schrumpft.',
        'Dann der Baum der letzten Aufgabe, mit `merge` statt `max` und den Barrieren an denselben Stellen.',
      ],
    },
    'tiled-forward': {
      short: 'Kacheln',
      title: 'Der Vorwärtsgang, Kachel für Kachel',
      task: 'Eine Workgroup je Kachel von Queries, eine Spur je Query. Die Spuren laden eine Kachel von k und v gemeinsam, dann strömt jede mit ihren eigenen m, ℓ und $o_i$ hindurch. Schreibe o und $\\mathrm{lse}_i = m + \\ln \\ell$, und lade jede Kachel einmal je Workgroup.',
      hints: [
        'Eine Kachel hat TILE · D Zahlen und TILE Spuren: Jede Spur lädt jede TILE-te Zahl, und keine hinter n · D. Barrieren stehen vor dem Laden und danach.',
        'Behalte $q_i$ in Registern (`array<f32, D>`). Für jeden Key der Kachel: sein Score s, dann `m_new = max(m, s)`, `factor = exp(m - m_new)`, `p = exp(s - m_new)`.',
        'l und jede Komponente von `o_i` werden mit `factor` multipliziert, dann werden p und p mal v addiert. Die letzte Kachel hat `min(TILE, sizes.n - first)` Keys.',
      ],
    },
    'causal-skip': {
      short: 'Kausal',
      title: 'Überspringe, was niemand sieht',
      task: 'Query i sieht nun nur die Keys $j \\le i$. Der Kernel mit Kacheln steht im Editor: Füge die Maske hinzu, und lade die Kacheln von Keys, die hinter der letzten Query einer Workgroup liegen, gar nicht erst.',
      hints: [
        'Die letzte Query einer Workgroup ist `(group.x + 1u) * TILE - 1u`: Dort kann die Schleife über die Kacheln enden.',
        'In einer Kachel hört eine Spur bei ihrem eigenen Key auf: `if (first + j > i) { break; }`. Eine Barriere dürfen nicht nur manche Spuren überspringen, also gehört das in die innere Schleife.',
        'Vier Kacheln von Queries gegen vier von Keys sind 16; unter der Diagonale sind es 10.',
      ],
    },
    delta: {
      short: 'Delta',
      title: 'Eine Zahl je Zeile',
      task: 'Der Rückwärtsgang braucht $\\delta_i = \\sum_c dO_{ic}\\, o_{ic}$, eine Zahl je Query. Mit ihr genügt ein Durchgang durch k und v, wo sonst zwei nötig wären.',
      hints: [
        'Ein Aufruf, eine Zeile: eine Schleife über die D Spalten.',
        'Element c der Zeile i liegt bei `i * D + c`, in `dO` wie in `o`.',
        'Schreibe die Summe in `delta[i]`.',
      ],
    },
    dq: {
      short: 'dQ',
      title: 'Rückwärts, eine Kachel von dQ',
      task: 'Die Statistik des Vorwärtsgangs bringt P zurück: $p = e^{s - \\mathrm{lse}_i}$. Berechne $dq_i = \\frac{1}{\\sqrt{d}} \\sum_j p\\,(dp - \\delta_i)\\, k_j$ mit $dp = dO_i \\cdot v_j$, und lade jede Kachel von k und v einmal je Workgroup.',
      hints: [
        'Die Schleife über die Kacheln ist die des Vorwärtsgangs, mit ihren Barrieren. Unterwegs muss nichts berichtigt werden: lse ist bekannt.',
        'Von ihrer Query behält eine Spur $q_i$, $dO_i$ und `stats[i]` in Registern. Spuren hinter n laden trotzdem Kacheln und treffen trotzdem die Barrieren.',
        'Für jeden Key zwei Skalarprodukte, s und dp; dann `ds = p * (dp - row.y)`, und ds mal Key wird zu `dq_i` addiert.',
      ],
    },
    dkv: {
      short: 'dK, dV',
      title: 'Rückwärts, eine Kachel von dK und dV',
      task: 'Nun gehört einer Spur ein Key, und Queries strömen vorbei: $dv_j = \\sum_i p\\, dO_i$ und $dk_j = \\frac{1}{\\sqrt{d}} \\sum_i p\\,(dp - \\delta_i)\\, q_i$. Lade jede Kachel von q und dO einmal je Workgroup; Atomics braucht es keine.',
      hints: [
        'Dieselbe Schleife mit vertauschten Rollen: $k_j$ und $v_j$ bleiben in Registern, Kacheln von `q` und `dO` kommen und gehen.',
        'lse und delta gehören jetzt zur Query, also braucht es auch von ihnen eine Kachel: `stats_tile[lane]`.',
        'p und ds sind die der letzten Aufgabe. p mal Zeile i von dO geht in `dv_j`, ds mal Zeile i von q in `dk_j`.',
      ],
    },
  },
};

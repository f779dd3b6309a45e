import type { Place } from '../../../logic/kernels/compare.ts';
import type { ChapterTexts } from '../../text.ts';

const element = ({ array, row, column }: Place): string =>
  column === null ? `${array}, Zeile ${row}` : `${array}, Zeile ${row}, Spalte ${column}`;

export const kernels: ChapterTexts['kernels'] = {
  intro: [
    'Die Spielzeugmaschine hatte nur wenige Register. Deine GPU hat Tausende von Lanes, und es sind dieselben drei Größen, auf die es ankommt: ein Maximum, ein Nenner, ein Zähler. Hier schreibst du die Kernel in WGSL, der Sprache von WebGPU, von der einfachen Formel bis zu beiden Hälften des Rückwärtsdurchlaufs.',
    'Ein Programm läuft auf deiner eigenen GPU, mit verdeckten Eingaben: Scores, die überlaufen, Längen, die kein Vielfaches der Kachel sind, Maxima, die steigen und fallen. Seine Ergebnisse werden mit einer float64-Referenz verglichen, seine Lesezugriffe werden gezählt, und dann tritt es gegen einen einfachen Kernel und gegen den besten an, den wir kennen.',
  ],
  label: 'Aufgabe',
  given: 'Steht vor deinem Programm',
  dispatch: {
    lanes: 'Läuft als $\\lceil n/64 \\rceil$ Workgroups.',
    tile: 'Läuft als $\\lceil n/\\text{TILE} \\rceil$ Workgroups.',
    row: 'Läuft als eine Workgroup pro Zeile.',
  },
  program: title => `Kernel: ${title}`,
  placeholder: '@compute @workgroup_size(64)\nfn main() { … }',
  run: 'Ausführen',
  runKeys: 'Strg + Enter führt den Kernel ebenfalls aus.',
  stages: {
    compiling: () => 'Wird kompiliert …',
    checking: ({ done, of }) => `Bei ${done} von ${of} verdeckten Eingaben richtig …`,
    timing: () => 'Richtig. Die Zeit wird gemessen …',
  },
  changed: 'Du hast das Programm seit diesem Lauf geändert.',
  notRun: 'Noch nicht ausgeführt.',
  line: (line, message) => `Zeile ${line}: ${message}`,
  failures: {
    'no-webgpu': () =>
      'Dieser Browser hat kein WebGPU, also kann hier nichts laufen. Du kannst schreiben, die Hinweise lesen und mit den Lösungen vergleichen; Chrome, Edge, Safari 26 und Firefox 141 haben WebGPU.',
    'no-adapter': ({ message }) =>
      `Der Browser hat WebGPU, stellt aber kein Gerät bereit. ${message || 'Vielleicht ist seine GPU abgeschaltet.'} Chrome bietet einen Software-Adapter, wenn man es mit --enable-unsafe-swiftshader startet.`,
    compiler: ({ errors }) =>
      errors.length === 1
        ? 'Das Programm lässt sich nicht kompilieren.'
        : `Das Programm lässt sich nicht kompilieren: ${errors.length} Fehler.`,
    refused: ({ message }) => `Das Programm lässt sich kompilieren, aber das Gerät lehnt es ab: ${message}`,
    lost: ({ message }) =>
      `Das Gerät ging verloren. ${message} Dein Programm ist gespeichert, und der nächste Lauf öffnet ein neues Gerät.`,
    hung: ({ seconds }) =>
      `In ${seconds} Sekunden kam nichts zurück, also wurde das Gerät aufgegeben. Gibt es eine Schleife, die nie endet? Dein Programm ist gespeichert, und der nächste Lauf öffnet ein neues Gerät.`,
    busy: () =>
      'Es war kein Gerät verfügbar. Vielleicht beschäftigt ein Kernel, der nie endet, noch die GPU: Lade die Seite neu. Dein Programm ist gespeichert.',
  },
  inputs: {
    whole: 'gewöhnlichen Zahlen',
    tail: 'einem n, das kein Vielfaches der Kachel ist',
    one: 'einem einzigen Key',
    falling: 'fallenden Scores',
    rising: 'steigenden Scores',
    high: 'Scores um 120',
    low: 'Scores um −120',
  },
  wrongOn: (input, n) => `Falsch bei ${input} (n = ${n}).`,
  wrong: {
    differs: (place, short) =>
      `Der größte Fehler liegt in ${element(place)}: ${short(place.got)} statt ${short(place.wanted)}.`,
    unwritten: place => `Nichts geschrieben wurde in ${element(place)}.`,
    outside: ({ array, row }) => `Über das Ende von ${array} hinaus wurde geschrieben, in Zeile ${row}.`,
  },
  slips: {
    scale: 'Das sind die Ergebnisse ohne die Skalierung: $1/\\sqrt{d}$ fehlt.',
    mask: 'Das sind die Ergebnisse ohne die Maske: Jede Query sieht jeden Key.',
    normalise: 'Das sind die Ergebnisse vor der Division durch die Summe.',
    rescale:
      'Das sind die Ergebnisse von Summen, die gleich bleiben, wenn das Maximum steigt: Sie müssen um den Faktor $e^{m - m^{\\prime}}$ schrumpfen.',
    delta: 'Das sind die Ergebnisse von $dS = P \\circ dP$: delta wurde nicht abgezogen.',
    barrier:
      'Lanes lesen, was andere Lanes schreiben. Dazwischen muss ein `workgroupBarrier()` stehen und ein weiteres, bevor derselbe Speicher wieder beschrieben wird.',
    race: 'Ein zweiter Lauf ergab andere Ergebnisse: Eine Lane liest, was eine andere noch schreibt. Prüf deine Barrieren.',
  },
  inputHints: {
    whole: 'An dieser Eingabe ist nichts Besonderes: Prüf die Formel.',
    tail: 'n ist hier kein Vielfaches der Workgroup-Größe. Welcher Ladezugriff oder welche Schleife geht über das Ende hinaus?',
    one: 'Es gibt nur einen Key, also ist sein Gewicht 1.',
    falling: 'Das Maximum kommt hier zuerst: Nichts danach darf m erhöhen.',
    rising:
      'Das Maximum steigt hier mit jedem Key: Was vorher summiert wurde, muss um den Faktor $e^{m - m^{\\prime}}$ schrumpfen.',
    high: '$e^{120}$ ist für ein f32 zu groß: Zieh das Maximum vor `exp` ab.',
    low: '$e^{-120}$ ist in einem f32 gleich 0. Ein Maximum, das bei 0 beginnt, findet diese Scores nie: Beginne weit darunter.',
  },
  right: inputs => `Richtig bei allen ${inputs} verdeckten Eingaben.`,
  largest: (error, allowed, place) =>
    `Größter Fehler ${error} bei ${place}; durch Rundung erlaubt sind ${allowed}.`,
  exact: 'Exakt bis aufs letzte Bit.',
  place: ({ array, row, column }) => (column === null ? `${array}[${row}]` : `${array}[${row}][${column}]`),
  reads: ({ array, unit, found, most }, write) =>
    unit === 'tiles'
      ? `${write(found)} ${found === 1 ? 'Kachel' : 'Kacheln'} von ${array} gelesen, ${write(most)} ${most === 1 ? 'genügt' : 'genügen'}`
      : `${write(found)} ${found === 1 ? 'Durchgang' : 'Durchgänge'} durch ${array}, ${write(most)} ${most === 1 ? 'genügt' : 'genügen'}`,
  tooSlow: 'Richtig, aber der Kernel liest mehr als nötig. Deshalb wird die Zeit noch nicht gemessen.',
  times: { own: 'Deiner', rival: 'Einfacher', best: 'Bester' },
  timesCaption: 'Zeit eines Dispatchs',
  ms: time => `${time} ms`,
  race: {
    ahead: 'Schneller als der beste Kernel, den wir kennen.',
    level: 'So schnell wie der beste Kernel, den wir kennen.',
    behind: times => `Der beste Kernel, den wir kennen, ist ${times}-mal so schnell.`,
  },
  measured: ({ sizes, clock, device, software }, write) =>
    `n = ${write(sizes.n)}, auf ${device || 'dieser GPU'}${software ? ', einer CPU, die eine GPU emuliert' : ''}, gemessen mit ${clock === 'timestamps' ? 'der Uhr der GPU' : 'der Uhr der Seite'}.`,
  puzzles: {
    naive: {
      short: 'Naiv',
      title: 'Attention direkt nach der Formel',
      task: 'Ein Aufruf pro Query: $o_i = \\sum_j p_{ij} v_j$ mit $p_{ij} = e^{s_{ij} - m_i} / \\ell_i$ und $s_{ij} = q_i \\cdot k_j / \\sqrt{d}$. Berechne die Scores, sooft du willst, aber speichere keinen.',
      hints: [
        'Für eine Zeile braucht man drei Dinge: ihr Maximum m, die Summe ℓ der $e^{s - m}$ und die Summe der $e^{s - m} v$. Das Maximum braucht eine eigene Schleife.',
        'Beginne mit `var m = score(i, 0u);` und mach mit `max` weiter. Addiere in einer zweiten Schleife p zu ℓ und p mal Zeile j von `v` zu `o_i`.',
        'Die Division durch ℓ ist schon da: Ersetze `var l = 1.0` durch eine Summe, die bei 0 beginnt.',
      ],
    },
    'row-softmax': {
      short: 'Zeile',
      title: 'Eine Zeile Softmax mit 64 Lanes',
      task: 'Eine Workgroup pro Zeile: $y_j = e^{x_j - m} / \\sum_k e^{x_k - m}$. Jede Lane sieht jede 64. Zahl; über den Workgroup-Speicher einigen sich die Lanes auf Maximum und Summe. Höchstens drei Durchgänge durch x.',
      hints: [
        'Jede Lane schreibt ihr eigenes Maximum in `part[lane]`. Dann nimmt die Hälfte der Lanes jeweils das größere von zweien, dann ein Viertel, bis eines übrig ist: ein Baum.',
        '`for (var half = LANES / 2u; half > 0u; half /= 2u)`: Lanes unter `half` verknüpfen `part[lane]` mit `part[lane + half]`. Nach jedem Schritt kommt `workgroupBarrier()`, außerhalb des `if`.',
        'Alle Lanes lesen `part[0]`. Noch eine Barriere muss folgen, bevor `part` für die Summen wieder benutzt wird.',
      ],
    },
    'streaming-softmax': {
      short: 'Streaming',
      title: 'Maximum und Summe in einem Durchgang',
      task: 'Derselbe Softmax mit höchstens zwei Durchgängen durch x: Jede Lane führt einen Zustand $(m, \\ell)$, und Zustände verschmelzen nach der Regel $\\ell = \\ell_a e^{m_a - m} + \\ell_b e^{m_b - m}$ mit $m = \\max(m_a, m_b)$.',
      hints: [
        'Eine einzelne Zahl x ist der Zustand (x, 1). Eine Funktion leistet also beides: Sie nimmt eine Zahl auf, und sie verschmilzt zwei Lanes.',
        'Achte auf die Exponenten: `exp(a.x - m)` und `exp(b.x - m)`. Der größere Zustand behält seine Summe, der andere schrumpft.',
        'Dann der Baum der vorigen Aufgabe, mit `merge` statt `max` und den Barrieren an denselben Stellen.',
      ],
    },
    'tiled-forward': {
      short: 'Kacheln',
      title: 'Der Vorwärtsdurchlauf, Kachel für Kachel',
      task: 'Eine Workgroup pro Query-Kachel, eine Lane pro Query. Die Lanes laden eine Kachel von k und v gemeinsam, dann geht jede sie mit eigenem m, ℓ und $o_i$ durch. Schreibe o und $\\mathrm{lse}_i = m + \\ln \\ell$, und lade jede Kachel nur einmal pro Workgroup.',
      hints: [
        'Eine Kachel hat TILE · D Zahlen und TILE Lanes: Jede Lane lädt jede TILE-te Zahl, aber keine hinter n · D. Barrieren stehen vor und nach dem Laden.',
        'Halte $q_i$ in Registern (`array<f32, D>`). Für jeden Key der Kachel: sein Score s, dann `m_new = max(m, s)`, `factor = exp(m - m_new)`, `p = exp(s - m_new)`.',
        'l und jede Komponente von `o_i` werden mit `factor` multipliziert, dann werden p und p mal v addiert. Die letzte Kachel hat `min(TILE, sizes.n - first)` Keys.',
      ],
    },
    'causal-skip': {
      short: 'Kausal',
      title: 'Überspringen, was niemand sieht',
      task: 'Query i sieht nun nur die Keys $j \\le i$. Der Kernel mit Kacheln steht im Editor: Füge die Maske hinzu, und lade die Key-Kacheln, die hinter der letzten Query einer Workgroup liegen, gar nicht erst.',
      hints: [
        'Die letzte Query einer Workgroup ist `(group.x + 1u) * TILE - 1u`: Dort kann die Schleife über die Kacheln enden.',
        'In einer Kachel hört eine Lane bei ihrem eigenen Key auf: `if (first + j > i) { break; }`. Alle Lanes müssen jede Barriere erreichen, also gehört das `break` in die innere Schleife.',
        'Vier Query-Kacheln mal vier Key-Kacheln sind 16; auf und unter der Diagonale liegen 10.',
      ],
    },
    delta: {
      short: 'Delta',
      title: 'Eine Zahl pro Zeile',
      task: 'Der Rückwärtsdurchlauf braucht $\\delta_i = \\sum_c dO_{ic}\\, o_{ic}$, eine Zahl pro Query. Mit ihr genügt ein Durchgang durch k und v; ohne sie wären es zwei.',
      hints: [
        'Ein Aufruf, eine Zeile: eine Schleife über die D Spalten.',
        'Element c der Zeile i liegt bei `i * D + c`, in `dO` wie in `o`.',
        'Schreibe die Summe in `delta[i]`.',
      ],
    },
    dq: {
      short: 'dQ',
      title: 'Rückwärts, eine Kachel von dQ',
      task: 'Die Statistik des Vorwärtsdurchlaufs bringt P zurück: $p = e^{s - \\mathrm{lse}_i}$. Berechne $dq_i = \\frac{1}{\\sqrt{d}} \\sum_j p\\,(dp - \\delta_i)\\, k_j$ mit $dp = dO_i \\cdot v_j$, und lade jede Kachel von k und v nur einmal pro Workgroup.',
      hints: [
        'Die Schleife über die Kacheln ist die des Vorwärtsdurchlaufs, mit ihren Barrieren. Unterwegs muss nichts korrigiert werden: lse ist bekannt.',
        'Eine Lane hält $q_i$, $dO_i$ und `stats[i]` ihrer Query in Registern. Lanes hinter n laden trotzdem Kacheln und erreichen trotzdem die Barrieren.',
        'Jeder Key braucht zwei Skalarprodukte, s und dp; dann ist `ds = p * (dp - row.y)`, und ds mal dem Key wird zu `dq_i` addiert.',
      ],
    },
    dkv: {
      short: 'dK, dV',
      title: 'Rückwärts, eine Kachel von dK und dV',
      task: 'Jetzt gehört jeder Lane ein Key, und die Queries strömen vorbei: $dv_j = \\sum_i p\\, dO_i$ und $dk_j = \\frac{1}{\\sqrt{d}} \\sum_i p\\,(dp - \\delta_i)\\, q_i$. Lade jede Kachel von q und dO nur einmal pro Workgroup; Atomics sind nicht nötig.',
      hints: [
        'Dieselbe Schleife mit vertauschten Rollen: $k_j$ und $v_j$ bleiben in Registern, Kacheln von `q` und `dO` kommen und gehen.',
        'lse und delta gehören jetzt zur Query, also braucht es auch von ihnen eine Kachel: `stats_tile[lane]`.',
        'p und ds sind die der vorigen Aufgabe. p mal Zeile i von dO geht in `dv_j`, ds mal Zeile i von q in `dk_j`.',
      ],
    },
  },
};

import type { Text } from '../../text.ts';

export const quizzes: Text['quizzes'] = {
  words: {
    check: 'Prüfen',
    right: 'Richtig.',
    wrong: 'Noch nicht.',
    several: 'Wähle alles, was zutrifft.',
    answer: 'Deine Antwort',
    show: 'Die Antwort zeigen',
    theAnswer: answer => `Die Antwort: ${answer}.`,
    quiz: 'Quiz',
  },
  'square-memory': {
    question: 'Ein Text wird doppelt so lang. Wie viel Mal so viele Scores gibt es?',
    nudge: 'Jedes Token sieht jedes Token an. Zähl die Paare.',
    why: [
      'Viermal: n Tokens machen n × n Scores. Zehnmal der Text heißt hundertmal die Scores. Von diesem Quadrat handelt der Rest dieser Seite: *Berechnen* muss man die Scores, aber niemand sagt, dass man sie *speichern* muss.',
    ],
  },
  'square-root': {
    question:
      'Queries und Keys haben d zufällige Komponenten der Größe 1. Was geschieht ohne den Faktor 1/√d mit den Gewichten, wenn d wächst?',
    options: [
      'Sie werden einander immer gleicher.',
      'Ein Gewicht nimmt beinahe alles.',
      'Nichts: Softmax sieht nur auf die Reihenfolge der Scores.',
    ],
    nudge:
      'Eine Summe aus d zufälligen Produkten hat die typische Größe √d. Was macht Softmax mit Scores, die weit auseinander liegen?',
    why: [
      'q·k ist eine Summe aus d zufälligen Gliedern: Ihre typische Größe ist √d. Liegen Scores so weit auseinander, legt Softmax fast alles Gewicht auf den größten, und sein Gradient verschwindet überall. Durch √d geteilt, bleiben die Scores für jedes d von der Größe 1. Der Regler oben zeigt es.',
    ],
  },
  'inner-six': {
    question:
      'Lass jedes Register den Multiplizierer speisen und nimm sechs Register. Wie viele Takte braucht ein inneres Produkt für alle vier Elemente mindestens?',
    nudge:
      'Ohne vier STORE und acht Produkte geht es nicht. Wie viele LOAD bleiben, wenn keine Zahl zweimal geladen wird?',
    why: [
      'Zwanzig. Mit sechs Registern halten die neuen *Operanden*: Zeile 0 von A bleibt, während c₀₀ und c₀₁ entstehen, und dann sind beide Spalten von B für c₁₁ und c₁₀ schon da. Jede Zahl wird einmal geladen: 8 LOAD, 8 Produkte, 4 STORE. Gespart werden fünf LOAD.',
      'Solange nur `R0` und `R1` den Multiplizierer speisen, können drei Register mehr nichts halten als Summen, und ein inneres Produkt hat eine Summe auf einmal: Es bleibt bei 25. Stell die Verdrahtung oben um und probier es.',
    ],
  },
  'three-registers': {
    question: 'Warum braucht diese Maschine mindestens drei Register?',
    options: [
      'Jede Matrix braucht ein eigenes Register.',
      'Die nächsten beiden Operanden überschreiben `R0` und `R1`, also braucht die Summe bisher ein drittes.',
      'Ein STORE belegt ein Register, bis er fertig ist.',
    ],
    nudge: 'Verfolge `R0`, `R1` und `R2` durch das zweite Produkt eines Elements.',
    why: [
      'Die beiden Operanden des Multiplizierers wechseln mit jedem Glied, und `MAC` nimmt den Summanden aus einem Register, nicht aus dem DRAM. Auf neueren GPUs (NVIDIA Blackwell) hat die Matrixeinheit einen eigenen Speicher für den Akkumulator; damit genügen wieder zwei Register.',
    ],
  },
  'safe-factor': {
    question:
      'Die Summe bisher muss vom Maximum m auf m′ umgerechnet werden. Was davon ist in 32-Bit-Zahlen sicher?',
    options: ['exp(m) / exp(m′)', 'exp(m − m′)', 'Beides: Es ist dasselbe.', '1 / exp(m′ − m), denn m′ ≥ m'],
    nudge:
      'Sieh auf jedes Zwischenergebnis für m = 100, nicht nur auf das letzte. Eine der vier Formen ist auf dem Papier gleich, läuft aber ohne Not über.',
    why: [
      'm − m′ ist nie positiv, also ist exp(m − m′) höchstens 1. exp(100) allein liegt über 3,4·10³⁸, und der Quotient wird ∞/∞. Und 1/exp(m′ − m) läuft über, sobald m′ um 89 über m liegt, obwohl das Ergebnis einfach 0 wäre. Dieselbe Mathematik, drei Verhalten in Zahlen.',
    ],
  },
  'running-tricks': {
    question:
      'Aufgabe 6. Was davon führt einen Zustand mit und *berichtigt das Angesammelte*, wenn sich ein Bezugspunkt bewegt?',
    options: [
      'Welfords Varianz: Der Mittelwert bewegt sich mit jeder Zahl.',
      'Die Wörter eines Textes zählen.',
      'Kahan-Summation: Eine zweite Zahl trägt den Rundungsfehler.',
      'Der größte Verlust eines Depots seit seinem Höchststand: Der Höchststand bewegt sich.',
      'Block-Gleitkomma: Wächst der gemeinsame Exponent, werden alle Mantissen verschoben.',
    ],
    nudge:
      'Frag jedes Mal: Gibt es etwas Globales, das erst am Ende bekannt ist, und wird das Vergangene berichtigt, wenn es anders kommt?',
    why: [
      'Ein Zähler hat keinen Bezugspunkt, der sich bewegt, und der größte Verlust behält seinen Wert, wenn ein neuer Höchststand kommt: Nichts Vergangenes wird berichtigt. Bei Welford werden die Quadrate an den bewegten Mittelwert angepasst, Kahan bringt in Ordnung, was die Rundung nahm, und Block-Gleitkomma rechnet alles auf den neuen Exponenten um, wie Online-Softmax auf sein Maximum.',
      'Verwandt: *Cauchyfolgen* ersetzen einen Grenzwert, den niemand kennt, durch Glieder, die einander nahe kommen, und *partielle Summation* (Abel) macht das Angesammelte zur Hauptsache.',
    ],
  },
  welford: {
    question:
      'Die Varianz in einem Durchgang. Behalten werden n, der Mittelwert und $M_2$, die Summe der quadrierten Abstände vom Mittelwert. Was kommt zu $M_2$ hinzu, wenn x eintrifft?',
    options: [
      '(x − alter Mittelwert)²',
      '(x − neuer Mittelwert)²',
      '(x − alter Mittelwert) · (x − neuer Mittelwert)',
      '(x − alter Mittelwert)² + (neuer − alter Mittelwert)²',
    ],
    nudge:
      'Probier es mit den Zahlen 0 und 2: Der Mittelwert geht von 0 auf 1, und die wahre Summe der Quadrate ist 2.',
    why: [
      'Ein Abstand vom alten Mittelwert und einer vom neuen. Die Herleitung zieht die beiden Quadratsummen Glied für Glied voneinander ab:',
      'Der erste Faktor sagt, wie weit die neue Zahl von dort liegt, wo der Mittelwert war, der zweite, wie weit von dort, wohin er gekommen ist. Wie das Maximum beim Softmax ist der Mittelwert global; wie dort wird das Vergangene berichtigt und nicht noch einmal gelesen. Hier mit den Zahlen dieses Kapitels:',
    ],
  },
  'numerator-rule': {
    question:
      'Aufgabe 7. Ein Key mit Score $x$ und Wertvektor $v$ trifft ein, und das Maximum geht von m auf m′. Was wird aus dem Zähler?',
    options: [
      'num + exp(x − m′) · v',
      'num · exp(m − m′) + exp(x − m′) · v',
      '(num + exp(x − m) · v) · exp(m′ − m)',
      'num · exp(m − m′) + v',
    ],
    nudge: 'Alles im Zähler war am alten Maximum gemessen. Womit muss man es multiplizieren?',
    why: [
      'Der Faktor ist eine Zahl für alle Komponenten, verteilt sich also über den Vektor; der Nenner folgt derselben Regel mit 1 an der Stelle von v. Der Zustand einer Query sind zwei Zahlen und ein Vektor von der Größe des Kopfes, statt einer Zeile aus n Gewichten.',
    ],
  },
  'one-pass': {
    question: 'Softmax allein brauchte zwei Durchgänge. Warum braucht Attention nur einen?',
    options: [
      'Ihre Scores sind wegen 1/√d kleiner.',
      'Sie braucht kein Maximum, denn V ist beschränkt.',
      'Sie gibt nur eine gewichtete Summe aus, die der laufende Zähler schon hält; nach einem einzelnen Gewicht fragt niemand.',
    ],
    nudge: 'Was hat der zweite Durchgang beim Softmax ausgegeben, und wer braucht das hier?',
    why: [
      'Softmax muss jedes einzelne Gewicht ausgeben, und jedes braucht das endgültige Maximum und die endgültige Summe: x wird noch einmal gelesen. Attention gibt einen Mittelwert aus. Jedes Gewicht entsteht, wird mit seinem Wertvektor multipliziert, addiert und vergessen; am Ende bleibt eine Division.',
    ],
  },
  'intensity-orders': {
    question:
      'Ein Besuch bringt eine Kachel aus T Queries und eine aus T Keys zusammen: $4T^2d$ Rechenschritte. Queries außen laden dafür K und V, Keys außen laden Q und O und speichern O. Wie viel Mal die arithmetische Intensität hat die Reihenfolge mit Queries außen?',
    nudge: 'Zähl die Kacheln aus T·d Zahlen, die sich je Besuch bewegen, in jeder Reihenfolge.',
    why: [
      'Anderthalbmal: Es bewegen sich zwei Kacheln statt drei. Mit $b$ Bytes je Zahl:',
      'Mit Plätzen für Ergebnisse im schnellen Speicher kommt die andere Reihenfolge näher: Das ist der Bereich, den der Regler zeigt.',
    ],
  },
  'intensity-flash': {
    question: 'Was erhöht die arithmetische Intensität von Flash-Attention (Queries außen)?',
    options: [
      'Eine längere Sequenz.',
      'Mehr Queries je Kachel.',
      'Eine größere Kopfgröße d.',
      'Mehr Keys je Kachel, bei gleich vielen Queries.',
    ],
    nudge:
      'Die Intensität ist 2T/b. Wessen T ist das: Welche Kachel bestimmt, wie oft ein geladenes K benutzt wird?',
    why: [
      'Ein geladener Key trifft jede Query der Kachel: T Queries benutzen jedes Byte T-mal; die Intensität ist also 2T/b, wie lang die Sequenz und wie groß der Kopf auch sei. Mehr Keys auf einmal bewegen dieselben Bytes nur in größeren Portionen. Gewöhnliche Attention, die S schreibt und P liest, bleibt bei langen Sequenzen bei etwa d/b, wie groß ihre Kacheln auch seien.',
    ],
  },
  ingredient: {
    question:
      'Was erlaubt es vorwärts, P nicht zu speichern? Online-Softmax ist es nicht, das kümmert sich um den Nenner.',
    options: [
      'P ist symmetrisch, also genügt die Hälfte.',
      'P kommt nur in einer Summe über seine Spalten vor, also kann jedes Element dort benutzt werden, wo es entsteht.',
      'P hat wenige große Elemente, also muss man die meisten nicht behalten.',
    ],
    nudge: 'Wo steht P in der Formel für O, und wie oft wird jedes Element davon benutzt?',
    why: [
      'Es ist die *Kontraktion*: P kommt nur in $\\sum_j P_{ij} v_j$ vor. Jedes Element entsteht, wird multipliziert, addiert und vergessen. Rückwärts muss man dasselbe Muster für dP und dS finden, obwohl ein Softmax dazwischen liegt.',
    ],
  },
  'why-gradients': {
    question:
      'Q, K und V passt niemand an: Sie entstehen jedes Mal neu aus X. Warum werden dQ, dK und dV berechnet?',
    options: [
      'Die Gradienten der Projektionsgewichte und von X sind Produkte mit ihnen.',
      'Der Optimierer braucht ihre Größe, um die Lernrate zu wählen.',
      'Sie zeigen, welche Tokens wichtig waren.',
    ],
    nudge: 'Was passt der Optimierer an, und wodurch führt die Kettenregel dorthin?',
    why: [
      '$dW_Q = X^\\top dQ$, und $dX$ ist eine Summe aus drei Gliedern, je einem für dQ, dK und dV: Der Weg zu den Gewichten und zur Schicht darunter führt hindurch. Jede Zeile von dQ kann beiden dienen, einer Zeile von $dX$ und einer Rang-1-Änderung von $dW_Q$, und dann vergessen werden.',
    ],
  },
  'projection-cost': {
    question:
      'Wie viel Rechnen brauchen $dW_Q$, $dW_K$, $dW_V$ zusammen, bei n Tokens und d Kanälen? Und dX?',
    options: [
      '$6nd^2$ für die Gewichte, $6nd^2$ für dX',
      '$6n^2d$ für die Gewichte, $6nd^2$ für dX',
      '$2nd^2$ für die Gewichte, $6nd^2$ für dX',
      '$6nd^2$ für die Gewichte, $2n^2d$ für dX',
    ],
    nudge:
      'Ein Produkt einer a × b- mit einer b × c-Matrix braucht 2abc Rechenschritte. Welche Formen treffen sich hier?',
    why: [
      'Jeder Gewichtsgradient ist $d \\times n$ mal $n \\times d$: $2nd^2$, dreimal. dX braucht drei Produkte von $n \\times d$ mit $d \\times d$: noch einmal $6nd^2$. Rückwärts durch die Attention selbst sind es fünf Produkte zu $2n^2d$; sie überwiegen, sobald n größer ist als etwa d.',
    ],
  },
  'walk-score': {
    question:
      'Geh dS und P Spalte für Spalte durch. Wie viele von dQ, dK und dV sind dann innere Produkte, die bei jedem Schritt eine Zeile beenden?',
    nudge:
      'Spalte j von dS ist Zeile j von dSᵀ. Welche der drei Produkte haben links dS oder P transponiert?',
    why: [
      'Zwei: dK = dSᵀ·Q und dV = Pᵀ·dO beenden mit Spalte j die Zeile j; nur dQ ist ein äußeres Produkt. Zeile für Zeile sind es ein inneres und zwei äußere. Softmax geht zeilenweise, aber `lse` und D sagen, was eine Spalte von jeder Zeile wissen muss; so stehen beide Wege offen.',
    ],
  },
  'known-d': {
    question:
      'Das D einer Zeile ist nur ein Skalarprodukt. Warum wird es vor allem anderen aus dO und O berechnet?',
    options: [
      'Aus P und dP wäre es weniger genau.',
      'Aus P und dP ist es erst bekannt, wenn die ganze Zeile vorbei ist, und K und V müssten zweimal kommen.',
      'Es erspart das Produkt dP = dO·Vᵀ.',
    ],
    nudge: 'Das dS der ersten Kachel braucht D. Wann wäre es bekannt?',
    why: [
      'Ist D zur Hand, entstehen P, dP, dS und alles, was sie zu den Gradienten beitragen, in einem Zug, solange K und V im schnellen Speicher sind: einmal laden statt zweimal, doppelt so viel Rechnen je Byte.',
    ],
  },
};

import type { Text } from '../../text.ts';

export const overview: Text['overview'] = {
  intro: [
    'Ein Wort allein sagt wenig. Wer war müde in *„The cat that chased the mouse slept because it was very tired“*? Um herauszufinden, worauf sich „it“ bezieht, muss ein Modell die anderen Wörter anschauen. Genau das leistet Attention: Jedes Wort fragt alle anderen und übernimmt am meisten von denen, deren Antwort passt.',
    'Jedes Wort ist ein Vektor. Drei kleine Matrizen machen daraus drei Vektoren: Die *Query* $q$ sagt, wonach das Wort sucht, der *Key* $k$, woran andere es finden, und der *Value* $v$, was es zu geben hat. Das Skalarprodukt von Query $i$ und Key $j$ sagt, wie gut die beiden zusammenpassen: Es ist der *Score* $S_{ij} = q_i \\cdot k_j / \\sqrt d$. Der Softmax macht aus einer Zeile von Scores Gewichte $P_{ij}$ mit der Summe eins. Die Ausgabe ist das mit ihnen gewichtete Mittel der Values, $o_i = \\sum_j P_{ij} v_j$. Für alle Wörter auf einmal:',
  ],
  word: 'Ein Wort fragt alle Wörter',
  wordWhy: [
    'Wähle ein Wort. Seine Query trifft auf die Keys aller zwölf Wörter. Je kräftiger die Farbe eines Wortes, desto mehr von seinem Value geht in die Ausgabe ein. Du kannst die Zahlen von Hand nachrechnen: Die Kopfgröße d ist 3, und die Vektoren haben wir so gewählt, dass das Ergebnis sinnvoll ist. Ein echtes Modell lernt seine Vektoren; in Kapitel 9 kannst du dabei zusehen.',
  ],
  choose: 'Das Wort, das fragt',
  looks: (word, most, share) => `„${word}“ achtet am meisten auf „${most}“: *${share}*.`,
  table: 'Scores, Gewichte und Values',
  query: (word, q) => `q von „${word}“ = ${q}`,
  key: 'Key',
  output: 'o = Σⱼ pⱼ · vⱼ',
  all: 'P: Jedes Wort (Zeile) fragt jedes Wort (Spalte)',
  allLabel: n => `${n} mal ${n} Gewichte; die Zeile des gewählten Wortes ist umrandet`,
  scale: 'Warum durch √d teilen?',
  scaleWhy: [
    'Ein Skalarprodukt summiert d Terme. Sind die Terme zufällig, wächst die Summe wie √d. Der Softmax verstärkt Unterschiede zwischen Scores: Liegen sie weit auseinander, nimmt ein Gewicht alles, und es bleibt kaum ein Gradient, aus dem das Modell lernen kann. Die Queries und Keys hier sind zufällig. Verändere die Kopfgröße d und sieh, was geschieht.',
  ],
  headSize: 'Kopfgröße d',
  scaled: 'q·k / √d',
  unscaled: 'q·k',
  largest: (largest, spread) => `größtes Gewicht ${largest}; Streuung der Scores ${spread}`,
  square: 'n Wörter, n² Scores',
  squareWhy: [
    'Q, K, V und die Ausgabe haben eine Zeile pro Wort. S und P haben eine Zahl pro *Paar* von Wörtern. Alle folgenden Kapitel handeln von diesem Quadrat und davon, wie man mit ihm rechnet, ohne es je zu speichern.',
  ],
  words: 'Wörter (n)',
  squareLabel: n =>
    `${n} ${n === 1 ? 'Wort' : 'Wörter'} und ein Quadrat aus ${n * n} ${n === 1 ? 'Score' : 'Scores'}`,
  bytesCaption: 'Speicherbedarf eines Kopfes mit 32-Bit-Gleitkommazahlen und d = 64',
};

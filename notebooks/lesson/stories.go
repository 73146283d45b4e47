package lesson

// Stories returns forty short stories in simple English, 19 kB of text, for lessons that train a language model on
// something that it can learn in seconds. They were written for this project and are under its license. An empty line
// separates two stories.
func Stories() string { return stories }

const stories = `Once there was a little cat. Her name was Mia. Mia lived in a small house by the river with an old man named
Tom. Every day Tom gave her milk, and every day she sat in the sun and looked at the water. One day she saw
a fish in the river. "Come out and play with me," said Mia. "I can not come out," said the fish. "I live in
the water." So Mia sat down by the river and told the fish about the house, and the fish told her about the
water. From that day on they were good friends.

Ben had a red ball. He loved the ball and played with it all day. One day he threw the ball too high, and it
fell into the garden of the old woman next door. Ben was afraid of her, because she never said a word. He
went to the door and said, "My ball is in your garden. Can I have it back, please?" The old woman smiled.
"Of course you can," she said. "And when you have found it, you can have some cake." Ben found the ball
under a tree, and they ate the cake together. She was not a bad woman at all.

It was a cold day in winter. The snow was deep, and the birds had nothing to eat. Anna looked out of the
window and saw them sit in the tree. "The birds are hungry," she said to her mother. "Can we give them some
bread?" Her mother gave her some bread, and Anna put on her coat and went out into the snow. She put the
bread under the tree and went back into the house. Then the birds came down and ate it all. The next day
they sat in the tree and sang a song for Anna.

There was a dog named Max who was afraid of the dark. When the sun went down, he ran into the house and hid
under the bed. One night he heard a small voice. "Help me," said the voice. "I have lost my way." Max looked
out from under the bed. It was a little mouse. "I am afraid of the dark," said the mouse. "I am afraid of
it, too," said Max. "But if we go together, it will not be so bad." So they went out into the night
together, and Max took the mouse home. When he came back, he was not afraid any more.

A farmer had a brown cow and a white horse. The cow gave milk, and the horse pulled the cart. "I do all the
work," said the horse. "You only stand in the grass and eat." The cow said nothing. One day the horse was
ill and could not pull the cart. The cow went to him and gave him some of her milk. The next day the horse
was well. "Thank you," he said. "You do your work, and I do mine. I will never say again that you only stand
in the grass and eat."

Lily wanted to see the moon from near. Every night she stood at the window and looked at it. "How far is it
to the moon?" she asked her father. "Very far," he said. "You would have to walk for a hundred years." "Then
I will start today," said Lily. She put some bread and an apple into a bag and walked up the hill behind the
house. When she was at the top, the moon was as far away as before. But from the hill she could see all the
lights of the town, and they looked like stars. "This is good, too," said Lily, and she ate her apple.

Two brothers found a box in the woods. The box was old and had no key. "There must be gold in it," said the
big brother. "There must be a letter in it," said the little brother. They took the box home and tried to
open it. They tried it with a stone, and they tried it with a stick. At last their sister came. She looked
at the box and pushed it open with one finger. There was no gold in it, and there was no letter. There was a
family of mice, and they were not happy at all.

The king had a garden with a hundred trees, but he was not happy. "Why are you not happy?" asked the
gardener. "I do not know," said the king. "I have a hundred trees, but I have never planted one." So the
gardener gave him a small tree, and the king took off his coat and planted it. He gave it water every day,
and he waited. The tree grew very slowly. After ten years there was one apple on it. The king ate the apple
under his tree, and it was the best apple of his life.

Sam was a small boy who asked a lot of questions. "Why is the sky blue?" he asked his mother. "Why is the
grass green? Why do the birds sing?" His mother told him all that she knew. Then she said, "Now I have a
question for you. Why do you ask so many questions?" Sam thought about it for a long time. "Because you know
so many answers," he said. His mother laughed, and then she told him why the sea is salty.

An old bear lived in a cave on the hill. He was tired and wanted to sleep. But every day the children of the
town came and played in front of his cave. "Be quiet," said the bear. "I want to sleep." The children were
afraid and ran away. Then it was very quiet. The bear lay down and closed his eyes, but now he could not
sleep. It was too quiet. So he went down to the town and stood in front of the school. "Please come back,"
he said. "I can not sleep when you are not there." And the children came back.

Tom and Anna made a boat out of paper. They put it on the river, and the river took it away. "Where will it
go?" asked Anna. "It will go to the sea," said Tom. The boat went under the bridge and past the old mill. A
duck looked at it and wanted to eat it. A boy threw a stone at it. But the boat went on and on, and in the
evening it came to the sea. There was a big ship with red sails. "Where do you come from?" asked the ship.
"From Tom and Anna," said the little boat.

One day the wind was very strong. It took the hat of the farmer and carried it over the wall. It took the
hat of the teacher and carried it over the church. It took the hat of the king and carried it over the
river. Then there were three hats in one tree. The birds looked at them and said, "What good houses!" When
the farmer, the teacher and the king came to the tree, there were eggs in all the hats. So they went home
without their hats, and in spring there were many young birds.

There was a girl who could not whistle. Her brother could whistle, and her father could whistle, and even
the bird in the kitchen could whistle. She tried it every morning, but nothing came out but air. "Do not be
sad," said her father. "You can sing." But she wanted to whistle. One day she lost a tooth. She was so
surprised that she opened her mouth and took a breath, and there it was, a high and beautiful whistle. The
dog came running, and the bird in the kitchen fell silent.

A little fish wanted to know how big the world was. It swam to the left until it came to a wall. It swam to
the right until it came to a wall. "The world is as big as this," said the little fish. "It goes from one
wall to the other." Then there was a lot of rain, and the water came up over the walls. The little fish swam
out into the river, and the river took it down to the sea. It swam to the left for a day, and it swam to the
right for a day, and there was no wall. "I was wrong," said the little fish, and it was very happy.

Every morning the baker got up at three o'clock and made bread for the whole town. He was always alone,
because all the others were still in bed. One morning there was a knock at the door. It was a small girl. "I
can not sleep," she said. "I smelled the bread." The baker gave her a chair and a warm roll. The girl told
him about school, and he told her about bread. When the sun came up, she went home and slept. From then on
there was always a chair by the oven, and it was not always empty.

The rabbit and the turtle wanted to know who was faster. "I am faster," said the rabbit. "Everybody knows
that." "Then let us run to the old tree," said the turtle. The rabbit ran away, and soon he was far ahead.
He sat down in the grass and waited. He waited for so long that he fell asleep. The turtle went on and on,
one foot after the other. When the rabbit woke up, the turtle sat under the old tree and ate a leaf. "What
took you so long?" asked the turtle.

Mia had a new friend at school. His name was Leo, and he came from a land far away. He did not know her
words, and she did not know his. So she drew a house, and he drew a house, too. His house stood by the sea,
and there were boats. Then she drew a cat, and he said a word. That was the word for cat in his land. Mia
said it after him, and he laughed. At the end of the day she knew ten of his words, and he knew ten of hers.
That is enough to begin with.

The old clock in the hall was always late. When it was six, it said five. When it was noon, it said eleven.
"We need a new clock," said the mother. "This one is no good." The clock heard it and was sad. That night it
worked as hard as it could, and in the morning it was right. But then everybody came too early. The bread
was not done, the milk was not there, and the school was still closed. "What is wrong with the clock?" said
the mother. So the clock went slowly again, and all was well.

A boy found an egg in the grass. It was green and very large. He took it home and put it under his pillow,
and he slept on it for seven nights. On the eighth day there was a crack in the egg, and a small head looked
out. It was not a bird, and it was not a snake. It was a dragon. "Good morning," said the dragon. "Are you
my mother?" "I am a boy," said the boy. "But I can give you some milk." The dragon drank the milk, and then
it made a very small fire. "Thank you, mother," it said.

There were three goats on the hill. The first goat was white, the second goat was black, and the third goat
was both. The white goat wanted to go to the left, where the grass was green. The black goat wanted to go to
the right, where the grass was long. They looked at the third goat. "Where do you want to go?" they asked.
"I want to stay here," said the third goat. "If you both go away, all of this grass is mine." So the other
two stayed, and they ate together until it was dark.

A woman had two sons and one coat. In the morning the big son took the coat and went to work. In the evening
the little son took the coat and went to the school for those who work by day. So they never saw each other,
and each of them thought that he was always cold for the other. One day their mother put a letter into the
pocket of the coat. "Tomorrow is Sunday," it said. "Nobody needs the coat on Sunday. Come home, both of you,
and sit by the fire." And they sat by the fire all day.

The little train went from the town to the sea and back. It carried the children in the morning and the fish
in the evening. "I want to see the mountains," said the little train. "There are no rails to the mountains,"
said the big train. "You have to stay on your rails." So the little train asked everyone who came from the
mountains, and they told it about the snow, and the goats, and the high bridges. In the end it knew more
about the mountains than the big train, who went there every day in the dark.

Once there was a man who talked to his garden. "Good morning, trees," he said. "Good morning, grass. How are
you today?" The people who went by laughed at him. "The trees can not hear you," they said. The man smiled
and went on. In the summer it was very hot, and all the gardens were brown. Only his garden was green. "What
did you tell your trees?" asked the people. "I asked them how they were," said the man, "and when they were
thirsty I gave them water."

Anna had a doll with one eye. The doll had lost the other eye in the garden a long time ago. "I will buy you
a new doll," said her grandmother. "I do not want a new doll," said Anna. "I want this one." So the
grandmother took a blue button and put it on the doll, and now the doll had one brown eye and one blue eye.
That night the doll looked at the moon with the brown eye, and with the blue eye she looked at Anna, and she
was happy with both.

A fox came to the house of the hen. "Good evening," said the fox. "It is cold out here. Can I come in?" The
hen looked out of the window. "Why do you want to come in?" she asked. "I want to sit by the fire," said the
fox. "And what will you eat?" asked the hen. The fox said nothing. "You can sit by the fire," said the hen,
"but first you have to eat this pot of soup." The fox ate the pot of soup, and then he was so full that he
fell asleep. In the morning he said thank you and went away.

Max and Ben went into the woods to look for a lion. They had a rope and a big bag. "What will we do when we
find it?" asked Ben. "We will put it into the bag," said Max. They went by the river and over the hill. Then
they heard a noise behind a tree. It was a very big noise. Ben looked at Max, and Max looked at Ben. Then
they ran home as fast as they could. Behind the tree the old donkey wondered why nobody ever said good
morning.

There was a boat that had never been on the water. It stood in a shop in the town, and people looked at it
through the window. "What a beautiful boat!" they said, and went on. One day a boy came with his
grandfather. "Does it swim?" asked the boy. "I do not know," said the man in the shop. "Nobody has ever
asked." They took the boat to the lake and put it on the water, and the wind came and filled its sail. "So
this is what I am for," thought the boat.

The teacher asked the children what they wanted to be. "I want to be a king," said Sam. "I want to be a
baker," said Lily. "I want to be a bird," said Leo. All the children laughed. "You can not be a bird," said
Sam. "I know," said Leo. "But the teacher did not ask what we can be. She asked what we want to be." The
teacher thought about it. "He is right," she said. And then she told them that she had always wanted to be a
whale.

One night a star fell into the field of a poor farmer. It was small and warm, and it gave a soft light. The
farmer took it home and put it on the table. Now he could see his wife, and his wife could see the children,
and the children could see the cat. "With this light we can read," said the wife. "With this light we can
sew," said the big girl. "It wants to go home," said the little girl. So in the morning they carried the
star up the hill, and when it was dark again, it was up there with the others.

A mouse lived in the wall of a big house. Every night she came out and looked for bread. The cat of the
house was old and slept all day and all night. "Why do you never run after me?" asked the mouse. "I ran
after your mother," said the cat, "and I ran after the mother of your mother. I never had one of them. Now I
am tired. But come and tell me about the wall. Is it warm in there?" So the mouse told him about the wall,
and every night she brought him a little bit of cheese.

It rained for seven days. On the first day the children played with the water. On the second day they made
boats. On the third day they read all the books, and on the fourth day they read them again. On the fifth
day they sat at the window and said nothing. On the sixth day the little one began to sing a song about the
rain, and the others sang with her. On the seventh day the sun came out, and they all ran into the garden.
But sometimes, on a hot day in summer, they still sing the song about the rain.

Tom was old, and he could not see well any more. Every day a girl came to his house and read the paper to
him. She read about the king and the war, and she read about the price of bread. One day there was nothing
in the paper but bad news. So the girl looked at the paper and read, "Yesterday a dog found his way home,
and his family gave him a big bone." Tom smiled. "It is a good paper today," he said. He knew very well that
it was not in the paper.

A tree stood alone in a field. In spring the birds came and made their houses in it. In summer the cows came
and lay down under it. In autumn the children came and took its apples. In winter nobody came. "I am alone,"
said the tree. "You are not alone," said a small voice. "Who is there?" asked the tree. "It is me, the snow.
I come every winter and put a coat on you, so that you are not cold. You were always asleep." From then on
the tree stayed awake a little longer every year.

There was a girl who collected words. She had a box, and when she heard a word that she liked, she put it
into the box on a small piece of paper. She had river and she had button. She had evening, and she had soup.
One day her friend was very sad and could not say why. The girl opened her box and took out one word after
the other. "Is it this one?" she asked. "No," said her friend. "Is it this one?" "No." At the bottom of the
box there was a word that she had never used. "Yes," said her friend. "It is that one." And then it was not
so bad any more.

Two men wanted to cross the same bridge from both sides. The bridge was so small that only one could go. "Go
back," said the first man. "I was here first." "No, you go back," said the second man. "I was here before
you." So they stood on the bridge the whole day. In the evening a boy came with a goat. He looked at the two
men, and then he took off his shoes and walked through the water with his goat. It was not deep at all. The
two men looked at each other, and they took off their shoes, too.

The moon was ill and could not come out. "Who will make the light tonight?" asked the sea. "I will do it,"
said the old lamp by the harbor. "You are too small," said the sea. But when it was dark the lamp gave as
much light as it could. One ship saw it and found its way into the harbor, and there was a father on that
ship, and his children were waiting for him. In the morning the moon was well again. "Thank you," said the
moon to the lamp. "For one ship," said the lamp, "I am big enough."

Ben learned to ride a horse. On the first day he fell off on the left side. On the second day he fell off on
the right side. On the third day he did not fall off, but the horse did not go anywhere. "What am I doing
wrong?" asked Ben. "You are doing nothing wrong," said the farmer. "You have to tell her where you want to
go." So Ben said into the ear of the horse, "I want to go to the river, please." The horse turned her head
and looked at him. Then she went to the river, and they both had a drink.

A cook had lost his spoon. He looked on the table and he looked under the table. He looked in the pot and he
looked in the oven. "Without my spoon I can not cook," he said, and he sat down on a chair and was very sad.
The king was hungry, and the queen was hungry, and the children cried. Then the smallest child came into the
kitchen and looked at the cook. "What is that behind your ear?" she asked. That evening there was soup, and
there was cake, and everybody had two plates of both.

In the house by the woods there lived an old woman who had never told a lie. People came from far away to
ask her. "Is my son a good boy?" asked a mother. "Sometimes," said the old woman. "Will it rain tomorrow?"
asked a farmer. "I do not know," said the old woman. "Am I beautiful?" asked the queen. The old woman looked
at her for a long time. "When you laugh," she said. The queen was so surprised that she laughed, and
everyone could see that it was true.

Lily had a stone. It was a gray stone from the river, and there was nothing special about it. She took it to
school in her pocket, and she put it under her pillow at night. "Why do you love that stone so much?" asked
her brother. "It is only a stone." "It was in the river for a thousand years," said Lily, "and then it was
in my hand." Her brother went to the river and looked at all the stones for a long time. When he came home
in the evening, he had one, too.`

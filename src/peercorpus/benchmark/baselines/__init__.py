"""What a language model has to beat: predictors that know the train side alone, and need no GPU."""
